import { formatPercentage } from '../format/number.js';
import styles from './parts.module.css';

/** A change below this share is said to be none. */
const LEAST = 0.005;

/**
 * How a figure is to the one before it, as a share. More of it is bad only where that is said.
 *
 * @param of what the one before is of, where that does not stand above
 */
export function Change({
  now,
  before,
  of,
  isBad = false,
  isShare = false,
}: {
  readonly now: number | null;
  readonly before: number | null;
  readonly of?: string;
  /** Whether more of it is worse. */
  readonly isBad?: boolean;
  /** Whether the figures are shares of 100, which differ by points: from 10% to 5% is 5 points less. */
  readonly isShare?: boolean | undefined;
}) {
  const against = of === undefined ? '' : ` ${of}`;
  if (now === null || before === null) return <small>no data to compare</small>;
  if (now === before) return <small>the same{against && ` as${against}`}</small>;
  // What there was none of grew by no share.
  if (before === 0 && !isShare) return <small className={isBad ? styles['bad'] : undefined}>up from 0</small>;
  const change = isShare ? now - before : 100 * (now / before - 1);
  if (Math.abs(change) < 100 * LEAST && !isShare)
    return <small>about the same{against && ` as${against}`}</small>;
  return (
    <small className={isBad && change > 0 ? styles['bad'] : undefined}>
      {change > 0 ? '+' : '−'}
      {isShare
        ? formatPercentage(Math.abs(change)).replace('%', ' points')
        : formatPercentage(Math.abs(change))}
      {against && ` vs${against}`}
    </small>
  );
}
