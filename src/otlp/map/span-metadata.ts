import type { JsonObject, JsonValue } from '../../signal/attributes.js';
import type { Origin } from '../../signal/origin.js';
import type { SentOrigin, SentSpan } from '../../signal/sent-span.js';
import { copyOf, setOwn, toJson, toJsonObject } from './any-value.js';
import { hexOf } from '../wire/ids.js';
import { LenientReader } from '../wire/lenient-reader.js';
import { keyValueType, resourceSpansType, spanType } from '../wire/messages.js';
import { boundDepth } from './json-text.js';
import { originOf } from './origin.js';
import { isOwnKey } from './own-attributes.js';
import { eventOf } from './span-events.js';
import { RESERVED, SPAN_KINDS, type OtelNotes } from './span-metadata-names.js';
import { timesOf, type Times } from './span-times.js';
import type { KeyValue, ResourceSpans, Span, SpanLink } from '../wire/requests.js';

const RESERVED_NAMES: ReadonlySet<string> = new Set(RESERVED);
const NO_BYTES = new Uint8Array(0);

/** Decodes a received span. @throws Error for invalid bytes */
export function readSent(bytes: Uint8Array): Span {
  return spanType.decode(readerOf(bytes));
}

/** Decodes the resource and scope of a received span. @throws Error for invalid bytes */
export function readSentOrigin(bytes: Uint8Array): ResourceSpans {
  return resourceSpansType.decode(readerOf(bytes));
}

function readerOf(bytes: Uint8Array): LenientReader {
  return new LenientReader(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
}

/** The `metadata` of a span in the layout of `span-metadata-names.ts`. */
export function deriveMetadata({ bytes, origin: sentOrigin, notes, mapped }: SentSpan): JsonObject {
  const span = readSent(bytes);
  const metadata = attributesIn(span);
  const displaced = Object.keys(metadata).filter((name) => RESERVED_NAMES.has(name));
  const attributes =
    displaced.length === 0
      ? undefined
      : Object.fromEntries(displaced.map((name) => [name, metadata[name] ?? null]));
  const origin = readOrigin(sentOrigin);
  const times = timesOf(span);
  // Copied, because callers may change them.
  metadata.resource = copyOf(origin.resource);
  if (origin.scope !== null) metadata.scope = copyOf(origin.scope);
  if (span.events?.length) metadata.events = span.events.map(eventOf);
  if (span.links?.length) metadata.links = span.links.map(linkOf);
  metadata.otel = otelNotes(span, mapped, typeof times === 'string' ? undefined : times, attributes);
  for (const [name, value] of Object.entries(notes)) metadata[name] = copyOf(value);
  if (isOwnParent(span)) metadata.self_parent = true;
  if (typeof times !== 'string' && times.skew !== undefined) metadata.clock_skew ??= times.skew;
  return metadata;
}

/** Numbers of the fields `kind` and `attributes` of a `Span`, and the wire type of a message. */
const KIND_FIELD = 6;
const ATTRIBUTES_FIELD = 9;
const MESSAGE = 2;

/** The attributes of a span without Jackdaw's own; skips all other fields. @param bytes as for {@link readSent} */
export function sentAttributes(bytes: Uint8Array): JsonObject {
  const reader = readerOf(bytes);
  const attributes: KeyValue[] = [];
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag === ((ATTRIBUTES_FIELD << 3) | MESSAGE))
      attributes.push(keyValueType.decode(reader, reader.uint32()));
    else reader.skipType(tag & 7);
  }
  return attributesIn({ attributes });
}

function attributesIn({ attributes: sent }: Pick<Span, 'attributes'>): JsonObject {
  const attributes: JsonObject = {};
  for (const { key, value } of sent ?? []) {
    const name = (key ?? '').toWellFormed();
    if (!isOwnKey(name)) setOwn(attributes, name, boundDepth(toJson(value)));
  }
  return attributes;
}

/** The number of a span's kind; skips the attributes. @param bytes as for {@link readSent} */
export function sentKind(bytes: Uint8Array): number {
  const reader = readerOf(bytes);
  let kind = 0;
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag === KIND_FIELD << 3) kind = reader.int32();
    else reader.skipType(tag & 7);
  }
  return kind;
}

/** The origin of a span, decoded once. Do not change it. @throws Error for invalid bytes */
export function readOrigin(sent: SentOrigin): Origin {
  if (sent.read !== undefined) return sent.read;
  const { resource, scopeSpans } = readSentOrigin(sent.bytes);
  return (sent.read = originOf(resource, scopeSpans?.[0]?.scope));
}

/** Whether a span was sent as its own parent. */
export function isOwnParent({ spanId, parentSpanId }: Span): boolean {
  if (!spanId || !parentSpanId) return false;
  return parentSpanId.length > 0 && Buffer.compare(spanId, parentSpanId) === 0;
}

type Notes = { -readonly [Name in keyof OtelNotes]: JsonValue };

function otelNotes(
  span: Span,
  mapped: SentSpan['mapped'],
  times: Times | undefined,
  displaced: JsonObject | undefined,
): JsonObject {
  const notes: Notes = {
    trace_id: hexOf(span.traceId ?? NO_BYTES),
    span_id: hexOf(span.spanId ?? NO_BYTES),
  };
  const parent = span.parentSpanId ?? NO_BYTES;
  if (parent.some((byte) => byte !== 0)) notes.parent_span_id = hexOf(parent);
  if (span.kind) notes.kind = SPAN_KINDS[span.kind] ?? span.kind;
  if (span.traceState) notes.trace_state = span.traceState.toWellFormed();
  if (span.flags) notes.flags = span.flags;
  const name = (span.name ?? '').toWellFormed();
  if (name !== mapped.name) notes.name = name;
  const code = span.status?.code;
  const message = span.status?.message?.toWellFormed() ?? '';
  if (code) notes.status_code = code;
  if (message !== (mapped.error_message ?? '')) notes.status_message = message;
  if (times !== undefined && times.startNanos > 0) notes.start_nanos = times.startNanos;
  if (times !== undefined && times.endNanos > 0 && mapped.status !== 'running')
    notes.end_nanos = times.endNanos;
  if (span.droppedAttributesCount) notes.dropped_attributes_count = span.droppedAttributesCount;
  if (span.droppedEventsCount) notes.dropped_events_count = span.droppedEventsCount;
  if (span.droppedLinksCount) notes.dropped_links_count = span.droppedLinksCount;
  if (displaced !== undefined) notes.attributes = displaced;
  return notes;
}

function linkOf(link: SpanLink): JsonObject {
  const kept: JsonObject = {
    trace_id: hexOf(link.traceId ?? NO_BYTES),
    span_id: hexOf(link.spanId ?? NO_BYTES),
  };
  if (link.traceState) kept.trace_state = link.traceState.toWellFormed();
  if (link.flags) kept.flags = link.flags;
  if (link.attributes?.length) {
    const attributes = toJsonObject(link.attributes);
    for (const [key, value] of Object.entries(attributes)) setOwn(attributes, key, boundDepth(value));
    kept.attributes = attributes;
  }
  if (link.droppedAttributesCount) kept.dropped_attributes_count = link.droppedAttributesCount;
  return kept;
}
