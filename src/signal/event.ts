import { formatTime, type Micros } from './time.js';

/** The events that Jackdaw emits, each after its commit. */
export const EVENT_TYPES = [
  'agent.created',
  'alert.fired',
  'alert.resolved',
  'prompt.created',
  'trace.completed',
  'trace.failed',
  'trace.timed_out',
  'webhook.endpoint.disabled',
  'webhook.test',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** Subscribes to all types. */
export const ALL_EVENTS = '*';

/** A fact that Jackdaw itself established and committed. */
export interface EventRecord {
  /** UUIDv7; the same for every delivery of the event. */
  readonly id: string;
  readonly type: EventType;
  /** When the fact was established. */
  readonly timestamp: Micros;
  /** UUID of the organization, for an event that belongs to one and to no user; otherwise null. */
  readonly organization_id: string | null;
  /** UUID of the only webhook endpoint to receive it; null: all that subscribe. */
  readonly endpoint_id: string | null;
  /** The envelope, {@link envelope}: made once, then sent and signed byte for byte. */
  readonly body: string;
}

/** The JSON text that receivers get: `{"id", "type", "timestamp", "data"}`. */
export function envelope(
  { id, type, timestamp }: Pick<EventRecord, 'id' | 'type' | 'timestamp'>,
  data: object,
): string {
  return JSON.stringify({ id, type, timestamp: formatTime(timestamp), data });
}
