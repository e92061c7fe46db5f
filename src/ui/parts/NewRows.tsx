import { ArrowUp } from 'lucide-react';
import { useShortcuts } from '../state/shortcuts.js';
import { cx } from './cx.js';
import styles from './parts.module.css';

/** Says above a list what came since it is read, and lets it in; nothing moves before. @param text empty: nothing came */
export function NewRows({
  text,
  isMoved = false,
  onShow,
}: {
  readonly text: string;
  /** Nothing came, but the rows stand in another order now. */
  readonly isMoved?: boolean;
  readonly onShow: () => void;
}) {
  const isNews = text !== '';
  const show = (): void => {
    if (!isNews && !isMoved) return;
    onShow();
    document.getElementById('main')?.scrollIntoView();
  };
  useShortcuts({ '.': show });
  return (
    <div className={styles['newRows']}>
      {(isNews || isMoved) && (
        <button type="button" className={cx(styles['button'], isNews && styles['primary'])} onClick={show}>
          <ArrowUp size={14} aria-hidden="true" /> {isNews ? text : 'Sort again'}
        </button>
      )}
    </div>
  );
}

/** `12 new runs`; empty for none. @param count at most what is counted */
export function newRows(count: number, noun: string, most = Infinity): string {
  if (count === 0) return '';
  return `${String(Math.min(count, most))}${count > most ? '+' : ''} new ${noun}${count === 1 ? '' : 's'}`;
}
