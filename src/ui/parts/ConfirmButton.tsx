import { useState, type ReactNode } from 'react';
import { cx } from './cx.js';
import styles from './parts.module.css';

/** What cannot be undone is asked for twice, in its place. */
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
  /** Of what it is done to, for who has it read. */
  readonly name?: string;
  /** Asked before; says what is lost. */
  readonly question: string;
  readonly confirm: string;
  readonly isBusy?: boolean;
  readonly onConfirm: () => void;
  /** What else is to be decided, behind the question. */
  readonly children?: ReactNode;
}) {
  const [isAsked, setAsked] = useState(false);
  if (!isAsked)
    return (
      <button
        type="button"
        className={styles['button']}
        aria-label={name === undefined ? undefined : `${label} ${name}`}
        disabled={isBusy}
        onClick={() => {
          setAsked(true);
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
          setAsked(false);
          onConfirm();
        }}
      >
        {confirm}
      </button>
      <button
        type="button"
        className={styles['button']}
        onClick={() => {
          setAsked(false);
        }}
      >
        Cancel
      </button>
    </span>
  );
}
