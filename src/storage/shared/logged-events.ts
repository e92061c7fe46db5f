import type { JsonObject } from '../../signal/attributes.js';
import type { RunStatus } from '../../signal/span.js';
import { parseJson } from '../../signal/json.js';
import { EVENT_NAME_ATTRIBUTE, eventNameOf, type LoggedEvent } from '../../signal/logged-event.js';

/** Maximum number of GenAI events per span; the newest are kept, as the beginning of such a long conversation is rarely read. */
export const SPAN_EVENTS = 1000;
/** Maximum per page of spans, also in bytes; the events of at least one span are included. */
const PAGE_EVENTS = 5000;
export const EVENT_PAGE_BYTES = 16 * 1024 * 1024;

/** A stored GenAI event; its texts are parsed on demand. */
export interface StoredLoggedEvent extends Pick<LoggedEvent, 'name' | 'timestamp'> {
  /** A text, or JSON text. */
  readonly body: string | null;
  /** JSON text. */
  readonly attributes: string | null;
}

/** GenAI events from the log records of the first of some spans. */
export interface EventsOfSpans {
  /** Number of these spans: as many as fit in memory with their events, at least one. */
  readonly spans: number;
  /** By span, ordered by time, then arrival. */
  readonly events: ReadonlyMap<string, readonly StoredLoggedEvent[]>;
}

/** Number of a span's events, and the bytes of their texts. */
export interface EventsSize {
  readonly events: number;
  readonly bytes: number;
}

/** How many of the spans fit on a page with their events. @param spans in order; null for spans without requested events */
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

/** Whether log records may have the error of a span. */
export function hasFailed(status: RunStatus): boolean {
  return status === 'failed' || status === 'timed_out';
}

type Row = Readonly<Record<string, unknown>>;

/** The event name of a stored record. Older records may have it in the attribute alone. */
export function shownEventName({ event_name: name, attributes }: Row): string | null {
  if (typeof name === 'string') return name;
  if (typeof attributes !== 'string' || !attributes.includes(`"${EVENT_NAME_ATTRIBUTE}"`)) return null;
  return eventNameOf({ event_name: null, attributes: parseJson(attributes) as JsonObject });
}

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

/** Record ids are in order of arrival. */
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
