import { MICROS_PER_HOUR } from '../../../signal/time-units.js';
import type { Micros } from '../../../signal/time.js';

/** Which spans: by their starts, both ends included. */
export interface SpanRange {
  readonly from?: Micros | undefined;
  readonly to?: Micros | undefined;
}

/**
 * The spans of a user as they are after all messages, as a relation. They are looked for by the hour of their start, so one that is told
 * again with another start counts where it is looked for.
 *
 * @param columns that are needed
 * @param also a further condition, which is the same for all messages of a span
 */
export function effectiveSpans(
  tenant: number,
  { from, to }: SpanRange,
  columns: readonly string[],
  also = 'true',
): string {
  const where = [
    `tenant = ${tenant}`,
    ...(from === undefined ? [] : [`hour >= ${Math.floor(from / MICROS_PER_HOUR)}`]),
    ...(to === undefined ? [] : [`hour <= ${Math.floor(to / MICROS_PER_HOUR)}`]),
    also,
  ];
  const within = [
    ...(from === undefined ? [] : [`started_at >= ${from}`]),
    ...(to === undefined ? [] : [`started_at <= ${to}`]),
  ];
  const needed = [...new Set(['trace_id', 'span_id', 'seq', 'version', 'started_at', ...columns])];
  const newest = `SELECT ${needed.join(', ')} FROM spans WHERE ${where.join(' AND ')} ORDER BY seq, version DESC LIMIT 1 BY trace_id, span_id`;
  return within.length === 0 ? `(${newest})` : `(SELECT * FROM (${newest}) WHERE ${within.join(' AND ')})`;
}
