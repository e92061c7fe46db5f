import type { JsonObject } from '../../signal/attributes.js';
import { GEN_AI_EVENTS } from '../../signal/logged-event.js';
import { toJsonObject } from './any-value.js';
import { EVALUATION_EVENT } from '../../signal/score.js';
import { CONVENTIONS } from './clients/index.js';
import { EventMessages } from './event-messages.js';
import { boundDepth } from './json-text.js';
import type { ChunkEvent } from './first-chunk.js';
import type { Micros } from '../../signal/time.js';
import { nanosToMicros } from '../wire/int64.js';
import { formatNanos } from '../wire/nano-time.js';
import type { SpanReading } from './span-reading.js';
import type { SpanEvent } from '../wire/requests.js';

/** Events whose attributes are sources of fields. */
const SOURCES: ReadonlySet<string> = new Set(CONVENTIONS.flatMap(({ events }) => events ?? []));
/** Events that report a chunk of an answer. */
const CHUNKS: ReadonlySet<string> = new Set(CONVENTIONS.flatMap(({ chunkEvents }) => chunkEvents ?? []));
/** The events that are read. */
const READ: ReadonlySet<string> = new Set([
  'exception',
  EVALUATION_EVENT,
  ...GEN_AI_EVENTS,
  ...SOURCES,
  ...CHUNKS,
]);

/** An event that reports a score. */
export interface Evaluation {
  readonly attributes: JsonObject;
  /** Null if unknown. */
  readonly at: Micros | null;
}

export interface ReadEvents {
  readonly evaluations: readonly Evaluation[];
  /** Of the last exception. */
  readonly exception: { readonly type: string; readonly message: string } | undefined;
  /** The first chunk of an answer. */
  readonly chunk: ChunkEvent | undefined;
}

/** Reads the events of a span; GenAI messages become sources of its input and output. */
export function readEvents(sent: readonly SpanEvent[], reading: SpanReading): ReadEvents {
  const evaluations: Evaluation[] = [];
  const messages = new EventMessages();
  let exception: ReadEvents['exception'];
  let chunk: ChunkEvent | undefined;
  for (const event of sent) {
    const name = event.name ?? '';
    if (!READ.has(name)) continue;
    if (CHUNKS.has(name)) {
      const at = chunk === undefined ? nanosToMicros(event.timeUnixNano ?? 0) : undefined;
      if (at !== undefined && at > 0) chunk = { name, at };
      continue;
    }
    const attributes = attributesOf(event);
    if (name === 'exception') exception = exceptionOf(attributes);
    else if (name === EVALUATION_EVENT)
      evaluations.push({ attributes, at: nanosToMicros(event.timeUnixNano ?? 0) || null });
    else if (SOURCES.has(name))
      for (const key in attributes) reading.eventAttribute(`${name}.${key}`, attributes[key] ?? null);
    else messages.add(name, attributes, reading);
  }
  messages.offer(reading);
  return { evaluations, exception, chunk };
}

function attributesOf(event: SpanEvent): JsonObject {
  const attributes = toJsonObject(event.attributes);
  for (const key in attributes) attributes[key] = boundDepth(attributes[key] ?? null);
  return attributes;
}

/** An event in the form of `metadata`. */
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
