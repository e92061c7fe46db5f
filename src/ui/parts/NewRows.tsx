import { ArrowUp } from 'lucide-react';
import { useShortcuts } from '../state/shortcuts.js';
import { cx } from './cx.js';
import styles from './parts.module.css';

/** Announces new rows above a list and shows them on request. @param text empty if there are none */
export function NewRows({
  text,
  isMoved = false,
  onShow,
}: {
  readonly text: string;
  /** No new rows, but the order changed. */
  readonly isMoved?: boolean;
  readonly onShow: () => void;
}) {
  const isNew = text !== '';
  const show = (): void => {
    if (!isNew && !isMoved) return;
    onShow();
    document.getElementById('main')?.scrollIntoView();
  };
  useShortcuts({ '.': show });
  return (
    <div className={styles['newRows']}>
      {(isNew || isMoved) && (
        <button type="button" className={cx(styles['button'], isNew && styles['primary'])} onClick={show}>
          <ArrowUp size={14} aria-hidden="true" /> {isNew ? text : 'Sort again'}
        </button>
      )}
    </div>
  );
}

/** `12 new runs`; empty for none. @param count capped at the counting limit */
export function newRows(count: number, noun: string, most = Infinity): string {
  if (count === 0) return '';
  return `${String(Math.min(count, most))}${count > most ? '+' : ''} new ${noun}${count === 1 ? '' : 's'}`;
}
