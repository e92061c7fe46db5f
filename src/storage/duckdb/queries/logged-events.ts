import type { LoggedEvent } from '../../../signal/logged-event.js';
import { eventPartsOf } from '../logs/gen-ai-events.js';
import type { Connection, Row } from '../files/connection.js';
import type { Capture } from '../rows/segment.js';

/** Of one span so many count, the newest: of a conversation that long nobody reads the beginning. */
const SPAN_EVENTS = 1000;
/** And so many on a page of spans, of so many bytes together; but those of one span at least. */
const PAGE_EVENTS = 5000;
const PAGE_BYTES = 16 * 1024 * 1024;

/** A GenAI event as it crosses from the store thread: its texts are parsed where they are wanted. */
export interface StoredEvent extends Pick<LoggedEvent, 'name' | 'timestamp'> {
  /** A text, or JSON text. */
  readonly body: string | null;
  /** JSON text. */
  readonly attributes: string | null;
}

/** The GenAI events among the log records of the first of some spans. */
export interface EventsOfSpans {
  /** How many of the spans these are: as many as memory may hold with their events, one at least. */
  readonly spans: number;
  /** By span, in the order of time, then as they came. */
  readonly events: ReadonlyMap<string, readonly StoredEvent[]>;
}

/**
 * @param traceId as the store prints it
 * @param spans in their order; of those that are null nothing is wanted
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
    const count = fitting(spans, sizes);
    const ids = spans.slice(0, count).filter((id) => id !== null && sizes.has(id));
    const isCut = ids.some((id) => isLarge(sizes.get(id ?? '')));
    return { spans: count, events: await eventsOf(connection, all, ids, isCut) };
  });
}

interface Size {
  readonly events: number;
  readonly bytes: number;
}

async function sizesOf(
  connection: Connection,
  all: string,
  wanted: readonly string[],
): Promise<ReadonlyMap<string, Size>> {
  const rows = await connection.rows(
    `SELECT span_id::VARCHAR AS span_id, count(*) AS events, sum(bytes)::BIGINT AS bytes FROM ${all} WHERE ${isOneOf(wanted)} GROUP BY span_id`,
  );
  return new Map(
    rows.map((row) => [String(row.span_id), { events: Number(row.events), bytes: Number(row.bytes) }]),
  );
}

/** How many of the spans fit on a page with their events. */
function fitting(spans: readonly (string | null)[], sizes: ReadonlyMap<string, Size>): number {
  let [events, bytes] = [0, 0];
  const end = spans.findIndex((id, i) => {
    const size = id === null ? undefined : sizes.get(id);
    events += Math.min(size?.events ?? 0, SPAN_EVENTS);
    bytes += Math.min(size?.bytes ?? 0, PAGE_BYTES);
    return i > 0 && (events > PAGE_EVENTS || bytes > PAGE_BYTES);
  });
  return end < 0 ? spans.length : end;
}

function isLarge(size: Size | undefined): boolean {
  return size !== undefined && (size.events > SPAN_EVENTS || size.bytes > PAGE_BYTES);
}

/** @param isCut whether some of the spans have more events than count */
async function eventsOf(
  connection: Connection,
  all: string,
  ids: readonly (string | null)[],
  isCut: boolean,
): Promise<ReadonlyMap<string, readonly StoredEvent[]>> {
  const isTheirs = isOneOf(ids);
  // Sorted without their texts.
  const newest = `SELECT id FROM (
      SELECT id, row_number() OVER newest_first AS place, sum(bytes) OVER newest_first AS held FROM ${all} WHERE ${isTheirs}
      WINDOW newest_first AS (PARTITION BY span_id ORDER BY timestamp DESC, id DESC ROWS UNBOUNDED PRECEDING))
    WHERE place <= ${SPAN_EVENTS} AND (place = 1 OR held <= ${PAGE_BYTES})`;
  const rows = await connection.rows(
    `SELECT span_id::VARCHAR AS span_id, id::VARCHAR AS id, epoch_us(timestamp) AS timestamp, event_name, body, attributes
      FROM ${all} WHERE ${isTheirs}${isCut ? ` AND id IN (${newest})` : ''}`,
  );
  const events = new Map<string, StoredEvent[]>();
  for (const row of rows.sort(byTime)) {
    const span = String(row.span_id);
    const known = events.get(span);
    if (known === undefined) events.set(span, [storedEvent(row)]);
    else known.push(storedEvent(row));
  }
  return events;
}

/** Ids of records are in the order in which these came. */
function byTime(a: Row, b: Row): number {
  return Number(a.timestamp) - Number(b.timestamp) || (String(a.id) < String(b.id) ? -1 : 1);
}

function storedEvent({ event_name: name, timestamp, body, attributes }: Row): StoredEvent {
  return {
    name: String(name),
    timestamp: Number(timestamp),
    body: typeof body === 'string' ? body : null,
    attributes: typeof attributes === 'string' ? attributes : null,
  };
}

function isOneOf(ids: readonly (string | null)[]): string {
  return `span_id IN (${ids.map((id) => `'${String(id)}'::UUID`).join(', ')})`;
}
