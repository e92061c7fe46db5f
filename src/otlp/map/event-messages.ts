import type { JsonObject, JsonValue } from '../../signal/attributes.js';
import { CHOICE_EVENT, DETAIL_EVENTS, MESSAGE_EVENTS } from '../../signal/logged-event.js';
import { setOwn } from './any-value.js';
import { EVENT_RANK } from './clients/gen-ai.js';
import { objectOf } from './conventions/readers.js';
import { isObject, parseStructure } from './json-text.js';
import type { SpanReading } from './span-reading.js';

/** Merges the GenAI events of one span into its input and output. */
export class EventMessages {
  readonly #asked: JsonValue[] = [];
  readonly #answered: JsonValue[] = [];

  /** Adds the next event. @param reading receives attributes of the span itself immediately */
  add(name: string, attributes: JsonObject, reading: SpanReading): void {
    const role = MESSAGE_EVENTS.get(name);
    if (role !== undefined) this.#asked.push(messageOf(attributes, role));
    else if (name === CHOICE_EVENT) this.#answered.push(messageOf(attributes, 'assistant'));
    else if (DETAIL_EVENTS.has(name))
      for (const key in attributes) reading.eventAttribute(key, attributes[key] ?? null, EVENT_RANK);
  }

  /** Adds the messages to the reading, as one of the sources of input and output. */
  offer(reading: SpanReading): void {
    if (this.#asked.length > 0) reading.messages('input', this.#asked, EVENT_RANK);
    if (this.#answered.length > 0) reading.messages('output', this.#answered, EVENT_RANK);
  }
}

/** The attributes of a message: content and role, possibly as JSON, or one JSON attribute with the whole message. */
function messageOf(attributes: JsonObject, role: string): JsonObject {
  const content = attributes['gen_ai.event.content'];
  const whole = content === undefined ? undefined : objectOf(content);
  const inner = attributes.message === undefined ? undefined : objectOf(attributes.message);
  const message: JsonObject = { role };
  for (const [key, value] of Object.entries({ ...attributes, ...whole })) {
    if (key.startsWith('gen_ai.') || (key === 'message' && inner !== undefined)) continue;
    if (key === 'message') {
      // A choice whose message is only its content.
      message.content ??= value;
      continue;
    }
    const isJson = typeof value === 'string' && key !== 'content';
    setOwn(message, key, isJson ? (parseStructure(value) ?? value) : value);
  }
  return isObject(inner) ? { ...message, ...inner } : message;
}
