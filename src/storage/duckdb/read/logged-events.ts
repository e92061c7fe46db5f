import {
  EVENT_PAGE_BYTES,
  eventsBySpan,
  fittingSpans,
  SPAN_EVENTS,
  type EventsOfSpans,
  type EventsSize,
  type StoredLoggedEvent,
} from '../../shared/logged-events.js';
import { eventPartsOf } from '../index/gen-ai-events.js';
import type { Connection } from '../files/connection.js';
import type { Capture } from '../segments/segment.js';

/**
 * @param traceId in the store's own format
 * @param spans in order; null for a span whose events are not needed
 */
export async function eventsOfSpans(
  connection: Connection,
  capture: Capture,
  tenant: number,
  traceId: string,
  spans: readonly (string | null)[],
): Promise<EventsOfSpans> {
  const wanted = spans.filter((id) => id !== null);
  const none = { spans: spans.length, events: new Map() };
  if (wanted.length === 0) return none;
  return await connection.asOfNow(async () => {
    const parts = await eventPartsOf(connection, capture, tenant, traceId);
    if (parts.length === 0) return none;
    const all = `(${parts.join(' UNION ALL ')})`;
    const sizes = await sizesOf(connection, all, wanted);
    if (sizes.size === 0) return none;
    const count = fittingSpans(spans, sizes);
    const ids = spans.slice(0, count).filter((id) => id !== null && sizes.has(id));
    const isCut = ids.some((id) => isLarge(sizes.get(id ?? '')));
    return { spans: count, events: await eventsOf(connection, all, ids, isCut) };
  });
}

async function sizesOf(
  connection: Connection,
  all: string,
  wanted: readonly string[],
): Promise<ReadonlyMap<string, EventsSize>> {
  const rows = await connection.rows(
    `SELECT span_id::VARCHAR AS span_id, count(*) AS events, sum(bytes)::BIGINT AS bytes FROM ${all} WHERE ${isOneOf(wanted)} GROUP BY span_id`,
  );
  return new Map(
    rows.map((row) => [String(row.span_id), { events: Number(row.events), bytes: Number(row.bytes) }]),
  );
}

function isLarge(size: EventsSize | undefined): boolean {
  return size !== undefined && (size.events > SPAN_EVENTS || size.bytes > EVENT_PAGE_BYTES);
}

/** @param isCut whether some of the spans have more events than count */
async function eventsOf(
  connection: Connection,
  all: string,
  ids: readonly (string | null)[],
  isCut: boolean,
): Promise<ReadonlyMap<string, readonly StoredLoggedEvent[]>> {
  const isTheirs = isOneOf(ids);
  // Sorted without their texts.
  const newest = `SELECT id FROM (
      SELECT id, row_number() OVER newest_first AS place, sum(bytes) OVER newest_first AS held FROM ${all} WHERE ${isTheirs}
      WINDOW newest_first AS (PARTITION BY span_id ORDER BY timestamp DESC, id DESC ROWS UNBOUNDED PRECEDING))
    WHERE place <= ${SPAN_EVENTS} AND (place = 1 OR held <= ${EVENT_PAGE_BYTES})`;
  const rows = await connection.rows(
    `SELECT span_id::VARCHAR AS span_id, id::VARCHAR AS id, epoch_us(timestamp) AS timestamp, event_name, body, attributes
      FROM ${all} WHERE ${isTheirs}${isCut ? ` AND id IN (${newest})` : ''}`,
  );
  return eventsBySpan(rows);
}

function isOneOf(ids: readonly (string | null)[]): string {
  return `span_id IN (${ids.map((id) => `'${String(id)}'::UUID`).join(', ')})`;
}
