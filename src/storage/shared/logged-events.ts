import type { JsonObject } from '../../signal/attributes.js';
import { parseJson } from '../../signal/json.js';
import type { LoggedEvent } from '../../signal/logged-event.js';

/** Of one span so many GenAI events count, the newest: of a conversation that long nobody reads the beginning. */
export const SPAN_EVENTS = 1000;
/** And so many on a page of spans, of so many bytes together; but those of one span at least. */
const PAGE_EVENTS = 5000;
export const EVENT_PAGE_BYTES = 16 * 1024 * 1024;

/** A GenAI event as it is stored: its texts are parsed where they are wanted. */
export interface StoredLoggedEvent extends Pick<LoggedEvent, 'name' | 'timestamp'> {
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
  readonly events: ReadonlyMap<string, readonly StoredLoggedEvent[]>;
}

/** How many events a span has, and the bytes of their texts. */
export interface EventsSize {
  readonly events: number;
  readonly bytes: number;
}

/** How many of the spans fit on a page with their events. @param spans in their order; of those that are null nothing is wanted */
export function fittingSpans(
  spans: readonly (string | null)[],
  sizes: ReadonlyMap<string, EventsSize>,
): number {
  let [events, bytes] = [0, 0];
  const end = spans.findIndex((id, i) => {
    const size = id === null ? undefined : sizes.get(id);
    events += Math.min(size?.events ?? 0, SPAN_EVENTS);
    bytes += Math.min(size?.bytes ?? 0, EVENT_PAGE_BYTES);
    return i > 0 && (events > PAGE_EVENTS || bytes > EVENT_PAGE_BYTES);
  });
  return end < 0 ? spans.length : end;
}

type Row = Readonly<Record<string, unknown>>;

/** @param rows records with `span_id` and `id` as texts, `timestamp` in microseconds, `event_name`, `body` and `attributes` */
export function eventsBySpan(rows: readonly Row[]): ReadonlyMap<string, readonly StoredLoggedEvent[]> {
  const events = new Map<string, StoredLoggedEvent[]>();
  for (const row of [...rows].sort(byTime)) {
    const span = String(row.span_id);
    const known = events.get(span);
    if (known === undefined) events.set(span, [storedEvent(row)]);
    else known.push(storedEvent(row));
  }
  return events;
}

export function loggedEvent({ name, timestamp, body, attributes }: StoredLoggedEvent): LoggedEvent {
  return {
    name,
    timestamp,
    body,
    attributes: attributes === null ? {} : (parseJson(attributes) as JsonObject),
  };
}

/** Ids of records are in the order in which these came. */
function byTime(a: Row, b: Row): number {
  return Number(a.timestamp) - Number(b.timestamp) || (String(a.id) < String(b.id) ? -1 : 1);
}

function storedEvent({ event_name: name, timestamp, body, attributes }: Row): StoredLoggedEvent {
  return {
    name: String(name),
    timestamp: Number(timestamp),
    body: typeof body === 'string' ? body : null,
    attributes: typeof attributes === 'string' ? attributes : null,
  };
}
