import type { JsonObject, JsonValue } from '../../signal/attributes.js';
import { setOwn, toJsonObject } from './any-value.js';
import {
  CHOICE_EVENT,
  DETAIL_EVENTS,
  EVALUATION_EVENT,
  EVENT_RANK,
  MESSAGE_EVENTS,
} from './clients/gen-ai.js';
import { objectOf } from './conventions/readers.js';
import { boundDepth, isObject, parseStructure } from './json-text.js';
import { formatNanos } from '../wire/nano-time.js';
import type { SpanReading } from './span-reading.js';
import type { SpanEvent } from '../wire/requests.js';

/** The events that say anything. */
const READ: ReadonlySet<string> = new Set([
  'exception',
  CHOICE_EVENT,
  EVALUATION_EVENT,
  ...MESSAGE_EVENTS.keys(),
  ...DETAIL_EVENTS,
]);

export interface ReadEvents {
  /** The attributes of evaluations. */
  readonly evaluations: readonly JsonObject[];
  /** Of the last exception. */
  readonly exception: { readonly type: string; readonly message: string } | undefined;
}

/** Reads the events of a span; messages that are events take part in the reading of the span. */
export function readEvents(sent: readonly SpanEvent[], reading: SpanReading): ReadEvents {
  const evaluations: JsonObject[] = [];
  const asked: JsonValue[] = [];
  const answered: JsonValue[] = [];
  let exception: ReadEvents['exception'];
  for (const event of sent) {
    const name = event.name ?? '';
    if (!READ.has(name)) continue;
    const attributes = attributesOf(event);
    if (name === 'exception') exception = exceptionOf(attributes);
    else if (name === CHOICE_EVENT) answered.push(messageOf(attributes, 'assistant'));
    else if (MESSAGE_EVENTS.has(name)) asked.push(messageOf(attributes, MESSAGE_EVENTS.get(name) ?? ''));
    else if (name === EVALUATION_EVENT) evaluations.push(attributes);
    else if (DETAIL_EVENTS.has(name))
      for (const key in attributes) reading.eventAttribute(key, attributes[key] ?? null, EVENT_RANK);
  }
  if (asked.length > 0) reading.messages('input', asked, EVENT_RANK);
  if (answered.length > 0) reading.messages('output', answered, EVENT_RANK);
  return { evaluations, exception };
}

function attributesOf(event: SpanEvent): JsonObject {
  const attributes = toJsonObject(event.attributes);
  for (const key in attributes) attributes[key] = boundDepth(attributes[key] ?? null);
  return attributes;
}

/** An event as `metadata` keeps it. */
export function eventOf(event: SpanEvent): JsonObject {
  const kept: JsonObject = { name: (event.name ?? '').toWellFormed() };
  const timestamp = formatNanos(event.timeUnixNano);
  if (timestamp !== undefined) kept.timestamp = timestamp;
  if (event.attributes?.length) kept.attributes = attributesOf(event);
  if (event.droppedAttributesCount) kept.dropped_attributes_count = event.droppedAttributesCount;
  return kept;
}

function exceptionOf(attributes: JsonObject): { readonly type: string; readonly message: string } {
  const type = attributes['exception.type'];
  const message = attributes['exception.message'];
  return {
    type: typeof type === 'string' ? type : '',
    message: typeof message === 'string' ? message : '',
  };
}

/** The attributes of a message: content and role, some of them as JSON, or all of it in one that is JSON. */
function messageOf(attributes: JsonObject, role: string): JsonObject {
  const content = attributes['gen_ai.event.content'];
  const whole = content === undefined ? undefined : objectOf(content);
  const inner = attributes.message === undefined ? undefined : objectOf(attributes.message);
  const message: JsonObject = { role };
  for (const [key, value] of Object.entries({ ...attributes, ...whole })) {
    if (key.startsWith('gen_ai.') || (key === 'message' && inner !== undefined)) continue;
    if (key === 'message') {
      // A choice whose message is its content alone.
      message.content ??= value;
      continue;
    }
    const isJson = typeof value === 'string' && key !== 'content';
    setOwn(message, key, isJson ? (parseStructure(value) ?? value) : value);
  }
  return isObject(inner) ? { ...message, ...inner } : message;
}
