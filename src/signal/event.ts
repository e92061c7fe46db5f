import { formatTime, type Micros } from './time.js';

/** The types of events. Each event is emitted after its commit. */
export const EVENT_TYPES = [
  'agent.created',
  'alert.fired',
  'alert.resolved',
  'prompt.created',
  'prompt.label.moved',
  'score.created',
  'trace.completed',
  'trace.failed',
  'trace.timed_out',
  'webhook.endpoint.disabled',
  'webhook.test',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** Subscription to all types. */
export const ALL_EVENTS = '*';

/** An event about a committed fact. */
export interface EventRecord {
  /** UUIDv7; the same for every delivery of the event. */
  readonly id: string;
  readonly type: EventType;
  /** Time of the fact. */
  readonly timestamp: Micros;
  /** UUID of the organization, for an event that belongs to an organization and not to a user; otherwise null. */
  readonly organization_id: string | null;
  /** UUID of the only webhook endpoint to receive it; null: all that subscribe. */
  readonly endpoint_id: string | null;
  /** The {@link envelope}, created once, then sent and signed unchanged. */
  readonly body: string;
}

/** The JSON text for receivers: `{"id", "type", "timestamp", "data"}`. */
export function envelope(
  { id, type, timestamp }: Pick<EventRecord, 'id' | 'type' | 'timestamp'>,
  data: object,
): string {
  return JSON.stringify({ id, type, timestamp: formatTime(timestamp), data });
}
