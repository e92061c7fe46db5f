import { zoneLabel } from '../format/time.js';
import { useSettings } from '../state/settings.js';
import styles from './parts.module.css';

/** The time zone of a list, for its current offset. */
export function ZoneNote() {
  const { zone } = useSettings();
  return <small className={styles['faint']}>Times in {zoneLabel(Date.now(), zone)}</small>;
}
