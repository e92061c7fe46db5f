import { formatPercentage } from '../format/number.js';
import styles from './parts.module.css';

/** Smaller changes are shown as about the same. */
const MINIMUM = 0.005;

/** The relative change between two values. @param of names the base if the context does not */
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
  /** Whether a higher value is worse. */
  readonly isBad?: boolean;
  /** Whether the values are percentages, which differ by points. */
  readonly isShare?: boolean | undefined;
}) {
  const against = of === undefined ? '' : ` ${of}`;
  if (now === null || before === null) return <small>no data to compare</small>;
  if (now === before) return <small>the same{against && ` as${against}`}</small>;
  // No percentage of zero.
  if (before === 0 && !isShare) return <small className={isBad ? styles['bad'] : undefined}>up from 0</small>;
  const change = isShare ? now - before : 100 * (now / before - 1);
  if (Math.abs(change) < 100 * MINIMUM && !isShare)
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
