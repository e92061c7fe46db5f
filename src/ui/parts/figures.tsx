import { formatDuration } from '../format/duration.js';
import { formatCount, formatExact, formatMoney, formatPercentage } from '../format/number.js';
import { formatRelative, formatTime, formatTimeExactly, zoneLabel } from '../format/time.js';
import { useNow } from '../state/clock.js';
import { useSettings } from '../state/settings.js';
import { Missing } from './Missing.js';
import styles from './parts.module.css';

interface Figure {
  readonly value: number | null;
  /** Reason shown without a value. */
  readonly missing: string;
}

export function Money({ value, missing }: Figure) {
  return value === null ? (
    <Missing reason={missing} />
  ) : (
    <span title={`$${String(value)}`}>{formatMoney(value)}</span>
  );
}

export function Count({ value, missing }: Figure) {
  return value === null ? (
    <Missing reason={missing} />
  ) : (
    <span title={formatExact(value)}>{formatCount(value)}</span>
  );
}

/** @param value milliseconds */
export function Duration({ value, missing }: Figure) {
  if (value === null) return <Missing reason={missing} />;
  return <span title={`${String(value)} ms`}>{formatDuration(value)}</span>;
}

/** Elapsed time, updated every second. @param since ISO 8601 */
export function Elapsed({ since }: { readonly since: string }) {
  const seconds = Math.max(0, Math.round((useNow() - Date.parse(since)) / 1000));
  return (
    <span title="Still running" className={styles['running']}>
      {formatDuration(seconds * 1000)}…
    </span>
  );
}

/** @param value 0 to 100 */
export function Percentage({ value, missing }: Figure) {
  return value === null ? <Missing reason={missing} /> : <span>{formatPercentage(value)}</span>;
}

/** An absolute time; the tooltip has the zone and the relative time. @param at ISO 8601 */
export function Time({
  at,
  relative = false,
  missing = 'unknown',
}: {
  readonly at: string | null;
  /** Show the relative time, with the absolute time in the tooltip. */
  readonly relative?: boolean;
  readonly missing?: string;
}) {
  const { zone } = useSettings();
  const now = useNow();
  if (at === null) return <Missing reason={missing} />;
  const ms = Date.parse(at);
  const ago = formatRelative(ms, now);
  return (
    <time dateTime={at} title={`${formatTimeExactly(ms, zone)}, ${ago}`} className={styles['time']}>
      {relative ? ago : formatTime(ms, zone)}
    </time>
  );
}

/** Absolute time with zone, followed by the relative time. */
export function FullTime({ at }: { readonly at: string }) {
  const { zone } = useSettings();
  const now = useNow();
  const ms = Date.parse(at);
  return (
    <time dateTime={at} title={formatTimeExactly(ms, zone)} className={styles['time']}>
      {formatTime(ms, zone)}{' '}
      <span className={styles['faint']}>
        {zoneLabel(ms, zone)} · {formatRelative(ms, now)}
      </span>
    </time>
  );
}
