import { CircleCheck, CircleDashed, CircleX, Timer } from 'lucide-react';
import type { RunStatus } from '../trace/span.js';
import styles from './parts.module.css';
import { cx } from './cx.js';

const LABELS: Readonly<Record<RunStatus, string>> = {
  completed: 'Completed',
  failed: 'Failed',
  timed_out: 'Timed out',
  running: 'Running',
};
const ICONS = { completed: CircleCheck, failed: CircleX, timed_out: Timer, running: CircleDashed } as const;

/** The status of a run or span: an icon, with text if there is room. */
export function Status({ status, short = false }: { readonly status: RunStatus; readonly short?: boolean }) {
  const Icon = ICONS[status];
  return (
    <span className={cx(styles['status'], styles[status])}>
      <Icon size={14} aria-hidden="true" />
      <span className={cx(short && styles['unseen'])}>{LABELS[status]}</span>
    </span>
  );
}
