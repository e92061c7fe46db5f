import { formatPercentage } from '../format/number.js';
import styles from './parts.module.css';

/** A change below this share is said to be none. */
const LEAST = 0.005;

/**
 * How a figure is to the one before it, as a share. More of it is bad only where that is said.
 *
 * @param of what the one before is of
 */
export function Change({
  now,
  before,
  of,
  isBad = false,
}: {
  readonly now: number | null;
  readonly before: number | null;
  readonly of: string;
  /** Whether more of it is worse. */
  readonly isBad?: boolean;
}) {
  if (now === null || before === null) return <small>nothing to compare with</small>;
  if (now === before) return <small>same as {of}</small>;
  // What there was none of grew by no share.
  if (before === 0) return <small className={isBad ? styles['bad'] : undefined}>up from 0</small>;
  const share = now / before - 1;
  if (Math.abs(share) < LEAST) return <small>about the same as {of}</small>;
  const sign = share > 0 ? '+' : '−';
  return (
    <small className={isBad && share > 0 ? styles['bad'] : undefined}>
      {sign}
      {formatPercentage(Math.abs(share) * 100)} vs {of}
    </small>
  );
}
