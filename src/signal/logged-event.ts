import type { JsonObject, JsonValue } from './attributes.js';
import type { LogRecord } from './log-record.js';
import type { Micros } from './time.js';

/**
 * Events of OpenTelemetry's GenAI conventions with the input and output of a model call. They come as events of the
 * call's span, or as log records with the span's ids.
 */

/** The role of a message by event name, in older versions of the conventions. */
export const MESSAGE_EVENTS: ReadonlyMap<string, string> = new Map([
  ['gen_ai.system.message', 'system'],
  ['gen_ai.user.message', 'user'],
  ['gen_ai.assistant.message', 'assistant'],
  ['gen_ai.tool.message', 'tool'],
]);

/** The event of an answer. */
export const CHOICE_EVENT = 'gen_ai.choice';

/** Events whose attributes are those that a span may have itself. */
export const DETAIL_EVENTS: ReadonlySet<string> = new Set([
  'gen_ai.client.inference.operation.details',
  'gen_ai.content.prompt',
  'gen_ai.content.completion',
]);

/** The names of all of them. */
export const GEN_AI_EVENTS: ReadonlySet<string> = new Set([
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

/** The attribute with the event's name if the record has no such field. */
const NAME_ATTRIBUTE = 'event.name';

/** The name of a record that belongs to a span and is one of {@link GEN_AI_EVENTS}; null for all others. */
export function loggedEventName({
  event_name: name,
  attributes,
  trace_id: traceId,
  span_id: spanId,
}: Pick<LogRecord, 'event_name' | 'attributes' | 'trace_id' | 'span_id'>): string | null {
  if (traceId === null || spanId === null) return null;
  const found = name ?? attributes[NAME_ATTRIBUTE];
  return typeof found === 'string' && GEN_AI_EVENTS.has(found) ? found : null;
}
