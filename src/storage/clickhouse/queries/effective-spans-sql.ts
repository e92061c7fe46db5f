import { MICROS_PER_HOUR } from '../../../signal/time-units.js';
import type { Micros } from '../../../signal/time.js';

/** Selects spans by start, both ends included. */
export interface SpanRange {
  readonly from?: Micros | undefined;
  readonly to?: Micros | undefined;
}

/**
 * The effective spans of a user, as a relation. Spans are found by the hour of their start, so a repeated span with another start counts in
 * the hour that is read.
 *
 * @param columns the columns to return
 * @param also an additional condition; if a row of a span meets it, so do all later versions of the row
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
