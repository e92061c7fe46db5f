import { BellOff, BellRing, CircleCheck } from 'lucide-react';
import parts from '../../parts/parts.module.css';
import { cx } from '../../parts/cx.js';

/** The state of a rule. @param isFiring whether its latest firing is ongoing */
export function RuleState({
  isActive,
  isFiring,
}: {
  readonly isActive: boolean;
  readonly isFiring: boolean;
}) {
  if (!isActive)
    return (
      <span className={cx(parts['status'], parts['faint'])}>
        <BellOff size={14} aria-hidden="true" /> Paused
      </span>
    );
  return isFiring ? (
    <span className={cx(parts['status'], parts['failed'])}>
      <BellRing size={14} aria-hidden="true" /> Firing
    </span>
  ) : (
    <span className={cx(parts['status'], parts['completed'])}>
      <CircleCheck size={14} aria-hidden="true" /> OK
    </span>
  );
}
