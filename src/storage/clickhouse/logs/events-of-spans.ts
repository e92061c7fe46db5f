import {
  EVENT_PAGE_BYTES,
  eventsBySpan,
  fittingSpans,
  SPAN_EVENTS,
  type EventsOfSpans,
} from '../../shared/logged-events.js';
import type { Reads } from '../client/reads.js';
import { recordsAt } from './log-condition.js';

/**
 * The GenAI events among the log records of some spans of a trace.
 *
 * @param spans in their order; null entries are skipped
 */
export async function eventsOfSpans(
  reads: Reads,
  { tenant, traceId }: { readonly tenant: number; readonly traceId: string },
  spans: readonly (string | null)[],
  abort?: AbortSignal,
): Promise<EventsOfSpans> {
  const none = { spans: spans.length, events: new Map() };
  const wanted = spans.filter((id) => id !== null);
  if (wanted.length === 0) return none;
  const of = (ids: readonly string[]): string =>
    `logged_events FINAL WHERE tenant = ${String(tenant)} AND trace_id = '${traceId}' AND span_id IN (${ids.map((id) => `'${id}'`).join(', ')})`;
  const sized = await reads.rows(
    `SELECT span_id, count() AS events, sum(bytes) AS all_bytes FROM ${of(wanted)} GROUP BY span_id`,
    abort,
  );
  if (sized.length === 0) return none;
  const sizes = new Map(
    sized.map((row) => [String(row.span_id), { events: Number(row.events), bytes: Number(row.all_bytes) }]),
  );
  const count = fittingSpans(spans, sizes);
  const ids = spans.slice(0, count).filter((id) => id !== null && sizes.has(id));
  if (ids.length === 0) return { spans: count, events: new Map() };
  const newest = await reads.rows(
    `SELECT id, timestamp FROM (SELECT span_id, id, timestamp, row_number() OVER newest_first AS place, sum(bytes) OVER newest_first AS held FROM ${of(ids.filter((id) => id !== null))}
       WINDOW newest_first AS (PARTITION BY span_id ORDER BY timestamp DESC, toUInt128(id) DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW))
     WHERE place <= ${String(SPAN_EVENTS)} AND (place = 1 OR held <= ${String(EVENT_PAGE_BYTES)})`,
    abort,
  );
  const places = newest.map((row) => ({ id: String(row.id), timestamp: Number(row.timestamp) }));
  const records = await reads.rows(
    `SELECT span_id, id, timestamp, event_name, body, attributes FROM logs WHERE ${recordsAt(tenant, places)}`,
    abort,
  );
  return { spans: count, events: eventsBySpan(records) };
}
