import type { JsonObject, JsonValue } from './attributes.js';
import type { LogRecord } from './log-record.js';
import type { Micros } from './time.js';

/**
 * Events of OpenTelemetry's GenAI conventions with the input, the output and the error of a model call. They arrive as events of the call's
 * span, or as log records with the span's ids.
 */

/** The role of a message by event name, in older versions of the conventions. */
export const MESSAGE_EVENTS: ReadonlyMap<string, string> = new Map([
  ['gen_ai.system.message', 'system'],
  ['gen_ai.user.message', 'user'],
  ['gen_ai.assistant.message', 'assistant'],
  ['gen_ai.tool.message', 'tool'],
]);

/** The event of a response. */
export const CHOICE_EVENT = 'gen_ai.choice';

/** Events with the same attributes as spans. */
export const DETAIL_EVENTS: ReadonlySet<string> = new Set([
  'gen_ai.client.inference.operation.details',
  'gen_ai.content.prompt',
  'gen_ai.content.completion',
]);

/** The event of a failed call, with its exception. */
export const EXCEPTION_EVENT = 'gen_ai.client.operation.exception';

export const GEN_AI_EVENTS: ReadonlySet<string> = new Set([
  EXCEPTION_EVENT,
  ...MESSAGE_EVENTS.keys(),
  CHOICE_EVENT,
  ...DETAIL_EVENTS,
]);

/** A GenAI event received as a log record. */
export interface LoggedEvent {
  /** One of {@link GEN_AI_EVENTS}. */
  readonly name: string;
  readonly timestamp: Micros;
  /** Some clients send JSON text. */
  readonly body: JsonValue;
  readonly attributes: JsonObject;
}

/** Attribute with the event's name. */
export const EVENT_NAME_ATTRIBUTE = 'event.name';

/**
 * The name of the event that a record reports, by its attribute or its field; null if it reports none. The attribute comes first, because
 * Rust's `tracing` puts the place in the source into the field: `event src/main.rs:12`.
 */
export function eventNameOf({
  event_name: name,
  attributes,
}: Pick<LogRecord, 'event_name' | 'attributes'>): string | null {
  const found = attributes[EVENT_NAME_ATTRIBUTE];
  return typeof found === 'string' && found !== '' ? found : name;
}

/** The name of a record that belongs to a span and is one of {@link GEN_AI_EVENTS}; null for all others. */
export function loggedEventName(
  record: Pick<LogRecord, 'event_name' | 'attributes' | 'trace_id' | 'span_id'>,
): string | null {
  if (record.trace_id === null || record.span_id === null) return null;
  const name = eventNameOf(record);
  return name !== null && GEN_AI_EVENTS.has(name) ? name : null;
}
