import { zoneLabel } from '../format/time.js';
import { useSettings } from '../state/settings.js';
import styles from './parts.module.css';

/** In which zone the times of a list are, as it is now. */
export function ZoneNote() {
  const { zone } = useSettings();
  return <small className={styles['faint']}>Times in {zoneLabel(Date.now(), zone)}</small>;
}
