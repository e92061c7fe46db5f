import type { JsonObject } from '../../signal/attributes.js';
import { DETAIL_EVENTS, EXCEPTION_EVENT, type LoggedEvent } from '../../signal/logged-event.js';
import { serializeJson } from '../../signal/json.js';
import type { SpanType } from '../../signal/span.js';
import { objectOf } from './conventions/readers.js';
import { EventMessages } from './event-messages.js';
import { boundDepth, renewAllowance } from './json-text.js';
import { haveContent } from './messages/message.js';
import { inputData, outputData } from './payloads.js';
import { storableText } from './names.js';
import { exceptionText } from './span-outcome.js';
import { SpanReading } from './span-reading.js';

/** The payload of a span from log records; null for missing parts. */
export interface LoggedPayload {
  readonly input: JsonObject | null;
  readonly output: JsonObject | null;
}

/**
 * The payload of a span from events that arrived as log records, in the form of a payload from events of the span itself.
 *
 * @param type of the span
 * @param events in the order of their times; repeats, for example from a client's retry, count once
 */
export function loggedPayload(type: SpanType, events: readonly LoggedEvent[]): LoggedPayload {
  renewAllowance();
  const reading = new SpanReading();
  const messages = new EventMessages();
  const known = new Set<string>();
  for (const event of events) {
    if (type !== 'llm' && isOfCall(event)) continue;
    const text = serializeJson([event.timestamp, event.name, event.body, event.attributes]);
    if (known.has(text)) continue;
    known.add(text);
    messages.add(event.name, attributesOf(event), reading);
  }
  messages.offer(reading);
  reading.end();
  return { input: withoutEmpty(inputData(type, reading)), output: withoutEmpty(outputData(type, reading)) };
}

/**
 * The error of a failed span: its own, unless it has none or just the type of an exception that arrived as a log record; the newest
 * exception counts.
 */
export function loggedError(own: string | null, events: readonly LoggedEvent[]): string | null {
  const attributes = events.findLast(({ name }) => name === EXCEPTION_EVENT)?.attributes;
  if (attributes === undefined) return own;
  const [type, message] = ['exception.type', 'exception.message'].map((key) => {
    const value = attributes[key];
    return typeof value === 'string' ? value : '';
  });
  const text = exceptionText({ type: type ?? '', message: message ?? '' });
  return text === '' || (own !== null && own !== type) ? own : storableText(text);
}

/** Whether an event belongs to a model call. During streaming it may be attached to the caller's span. */
function isOfCall({ name, attributes }: LoggedEvent): boolean {
  return DETAIL_EVENTS.has(name) && attributes['gen_ai.operation.name'] !== 'invoke_agent';
}

/**
 * The attributes that the event would have on a span. The body holds the whole message, unless the client sends everything as
 * attributes.
 */
function attributesOf({ name, body, attributes }: LoggedEvent): JsonObject {
  const whole = objectOf(boundDepth(body)) ?? {};
  if (DETAIL_EVENTS.has(name)) return { ...whole, ...bounded(attributes) };
  if (Object.keys(whole).length > 0) return whole;
  return typeof body === 'string' && body !== '' ? { content: body } : bounded(attributes);
}

function bounded(attributes: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(attributes).map(([key, value]) => [key, boundDepth(value)]));
}

/** Removes messages with roles only, which clients send if they hide contents. */
function withoutEmpty(data: JsonObject | null): JsonObject | null {
  if (data === null || !Array.isArray(data.messages) || haveContent(data.messages)) return data;
  const others = Object.entries(data).filter(([name]) => name !== 'messages');
  return others.length === 0 ? null : Object.fromEntries(others);
}
