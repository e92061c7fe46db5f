import { useState, type ReactNode } from 'react';
import { cx } from './cx.js';
import styles from './parts.module.css';

/** A button that asks for confirmation in place. */
export function ConfirmButton({
  label,
  name,
  question,
  confirm,
  isBusy = false,
  onConfirm,
  children,
}: {
  readonly label: string;
  /** Object of the action, for screen readers. */
  readonly name?: string;
  /** Says what will be lost. */
  readonly question: string;
  readonly confirm: string;
  readonly isBusy?: boolean;
  readonly onConfirm: () => void;
  /** Further options shown with the question. */
  readonly children?: ReactNode;
}) {
  const [isOpen, setOpen] = useState(false);
  if (!isOpen)
    return (
      <button
        type="button"
        className={styles['button']}
        aria-label={name === undefined ? undefined : `${label} ${name}`}
        disabled={isBusy}
        onClick={() => {
          setOpen(true);
        }}
      >
        {label}
      </button>
    );
  return (
    <span role="group" aria-label={question} className={styles['confirm']}>
      {question}
      {children}
      <button
        type="button"
        autoFocus
        className={cx(styles['button'], styles['bad'])}
        disabled={isBusy}
        onClick={() => {
          setOpen(false);
          onConfirm();
        }}
      >
        {confirm}
      </button>
      <button
        type="button"
        className={styles['button']}
        onClick={() => {
          setOpen(false);
        }}
      >
        Cancel
      </button>
    </span>
  );
}
