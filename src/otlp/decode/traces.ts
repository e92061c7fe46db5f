import { AttributePlaces, NOWHERE, ReadAttributes } from '../wire/read-span.js';
import type { ReadResource, ReadScope, ReadSpan, ReadTraces, Stretch } from '../wire/read-span.js';
import { keyValueType, resourceType, scopeType, spanType, statusOfSpanType } from '../wire/messages.js';
import type { Int64, Resource, Scope, Span, SpanEvent } from '../wire/requests.js';
import { readWhole, type BoundedReader } from './protobuf.js';

/** Wire types of protobuf. */
const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;
/** The levels of messages around each message. */
const DEPTH = { resourceSpans: 1, scopeSpans: 2, resource: 2, span: 3, scope: 3, part: 4 } as const;
/** The tag of `scope_spans` in `ResourceSpans`. */
const SCOPE_SPANS_TAG = 0x12;

/**
 * Reads a request of traces like the generated code (`test/otlp/decode/traces.test.ts` compares both), but leaves attributes of spans
 * as bytes: most are never read. The bytes are checked, however, so that they can be read later.
 *
 * @param maxFields as for `decodeProtobuf`
 * @throws OtlpDecodeError
 */
export function decodeTraces(bytes: Uint8Array, maxFields: number): ReadTraces {
  return readWhole('traces', bytes, maxFields, (reader) => {
    const places = new AttributePlaces(reader.buf as Buffer);
    const resources: ReadResource[] = [];
    eachField(reader, reader.len, 0, (field, type) => {
      if (field !== 1 || type !== BYTES) return false;
      resources.push(readResource(reader, places));
      return true;
    });
    return { resources };
  });
}

/** Reads a field if it is supported. @returns false otherwise */
type TakeField = (field: number, type: number) => boolean;

/** Reads the fields of a message up to its end. */
function eachField(reader: BoundedReader, end: number, depth: number, take: TakeField): void {
  while (reader.pos < end) {
    const tag = reader.tag();
    if (!take(tag >>> 3, tag & 7)) reader.skipType(tag & 7, depth, tag >>> 3);
  }
}

/** Reads a message within another. */
function within(reader: BoundedReader, depth: number, take: TakeField): void {
  const outer = reader.len;
  const end = reader.size() + reader.pos;
  if (end > outer) throw new RangeError('index out of range');
  reader.len = end;
  eachField(reader, end, depth, take);
  if (reader.pos !== end) throw new RangeError('index out of range');
  reader.len = outer;
}

function readResource(reader: BoundedReader, places: AttributePlaces): ReadResource {
  let resource: Resource | undefined;
  const around: Uint8Array[] = [];
  const found: (Omit<ReadScope, 'origin'> & { readonly around: readonly Uint8Array[] })[] = [];
  within(reader, DEPTH.resourceSpans, (field, type) => {
    if (field === 2 && type === BYTES) {
      found.push(readScope(reader, places));
      return true;
    }
    const start = reader.pos;
    if (field === 1 && type === BYTES)
      resource = resourceType.decode(reader, reader.size(), undefined, DEPTH.resource, resource);
    else if (field === 3 && type === BYTES) reader.stringVerify();
    else reader.skipType(type, DEPTH.resourceSpans, field);
    around.push(fieldBytes(reader, field, type, start));
    return true;
  });
  const scopes = found.map(({ scope, spans, around: ofScope }) => ({
    scope,
    spans,
    origin: { bytes: Buffer.concat([...around, scopeSpans(ofScope)]) },
  }));
  return { resource, scopes };
}

function readScope(reader: BoundedReader, places: AttributePlaces) {
  let scope: Scope | undefined;
  const around: Uint8Array[] = [];
  const spans: ReadSpan[] = [];
  within(reader, DEPTH.scopeSpans, (field, type) => {
    if (field === 2 && type === BYTES) {
      spans.push(readSpan(reader, places));
      return true;
    }
    const start = reader.pos;
    if (field === 1 && type === BYTES)
      scope = scopeType.decode(reader, reader.size(), undefined, DEPTH.scope, scope);
    else if (field === 3 && type === BYTES) reader.stringVerify();
    else reader.skipType(type, DEPTH.scopeSpans, field);
    around.push(fieldBytes(reader, field, type, start));
    return true;
  });
  return { scope, spans, around };
}

/** A field that was read, with its tag. @param start where its value begins */
function fieldBytes(reader: BoundedReader, field: number, type: number, start: number): Uint8Array {
  return Buffer.concat([varint(((field << 3) | type) >>> 0), reader.buf.subarray(start, reader.pos)]);
}

function scopeSpans(around: readonly Uint8Array[]): Uint8Array {
  const content = Buffer.concat(around);
  return Buffer.concat([Uint8Array.of(SCOPE_SPANS_TAG), varint(content.length), content]);
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  bytes.push(rest);
  return Uint8Array.from(bytes);
}

type Status = NonNullable<Span['status']>;

/** The fields of a span that are read. */
class FoundSpan implements ReadSpan {
  traceId = NOWHERE;
  spanId = NOWHERE;
  parentSpanId = NOWHERE;
  name = '';
  kind = 0;
  flags = 0;
  startTimeUnixNano: Int64 = 0;
  endTimeUnixNano: Int64 = 0;
  events: SpanEvent[] | undefined = undefined;
  status: Status | undefined = undefined;
  attributes: ReadAttributes;
  readonly buffer: Buffer;
  readonly start: number;
  readonly end: number;

  constructor(places: AttributePlaces, start: number, end: number) {
    this.buffer = places.buffer;
    this.start = start;
    this.end = end;
    this.attributes = new ReadAttributes(places, 0, 0);
  }
}

function readSpan(reader: BoundedReader, places: AttributePlaces): ReadSpan {
  const outer = reader.len;
  const size = reader.size();
  const end = reader.pos + size;
  if (end > outer) throw new RangeError('index out of range');
  reader.len = end;
  const span = new FoundSpan(places, reader.pos, end);
  const first = places.length;
  while (reader.pos < end) {
    const tag = reader.tag();
    if (tag === ATTRIBUTE_TAG) readAttribute(reader, places);
    else readField(reader, span, tag >>> 3, tag & 7);
  }
  if (reader.pos !== end) throw new RangeError('index out of range');
  reader.len = outer;
  span.attributes = new ReadAttributes(places, first, places.length);
  return span;
}

const ATTRIBUTE_TAG = (9 << 3) | BYTES;
const DROPPED = new Set([10, 12, 14]);

function readField(reader: BoundedReader, span: FoundSpan, field: number, type: number): void {
  if (type === BYTES) {
    if (field === 1) span.traceId = stretchAt(reader);
    else if (field === 2) span.spanId = stretchAt(reader);
    else if (field === 3) reader.stringVerify();
    else if (field === 4) span.parentSpanId = stretchAt(reader);
    else if (field === 5) span.name = reader.stringVerify();
    else if (field === 11)
      (span.events ??= []).push(spanType.Event.decode(reader, reader.size(), undefined, DEPTH.part));
    else if (field === 13) spanType.Link.decode(reader, reader.size(), undefined, DEPTH.part);
    else if (field === 15)
      span.status = statusOfSpanType.decode(reader, reader.size(), undefined, DEPTH.part, span.status);
    else reader.skipType(type, DEPTH.span, field);
  } else if (field === 6 && type === VARINT) span.kind = reader.int32();
  else if (field === 7 && type === FIXED64) span.startTimeUnixNano = fixed64(reader);
  else if (field === 8 && type === FIXED64) span.endTimeUnixNano = fixed64(reader);
  else if (field === 16 && type === FIXED32) span.flags = reader.fixed32();
  else if (DROPPED.has(field) && type === VARINT) reader.uint32();
  else reader.skipType(type, DEPTH.span, field);
}

function stretchAt(reader: BoundedReader): Stretch {
  const size = reader.size();
  const start = reader.pos;
  const end = start + size;
  if (end > reader.len) throw new RangeError('index out of range');
  reader.pos = end;
  return { start, end };
}

function fixed64(reader: BoundedReader): Int64 {
  const low = reader.fixed32();
  return { low, high: reader.fixed32(), unsigned: true };
}

/** The tags of a key and of a value, and those of the values that are checked here, in the usual layout. */
const KEY_TAG = 0x0a;
const VALUE_TAG = 0x12;
const TEXT_TAG = 0x0a;
const BOOLEAN_TAG = 0x10;
const INTEGER_TAG = 0x18;
const DOUBLE_TAG = 0x21;
const BYTES_TAG = 0x3a;
const MAX_VARINT = 10;

/** Records the place of an attribute. Nested values are checked by the generated code, which also reads unusual layouts. */
function readAttribute(reader: BoundedReader, places: AttributePlaces): void {
  const before = reader.pos;
  const size = reader.size();
  const end = reader.pos + size;
  if (end > reader.len) throw new RangeError('index out of range');
  const { buf, pos } = reader;
  const keyLength = buf[pos + 1] ?? 255;
  const keyStart = pos + 2;
  const keyEnd = keyStart + keyLength;
  let length = -1;
  if (size > 3 && buf[pos] === KEY_TAG && keyLength < 128 && keyEnd + 2 <= end && buf[keyEnd] === VALUE_TAG)
    length = shortLength(buf, keyEnd + 1, end);
  const valueStart = end - length;
  if (length === 0 || (length > 0 && isPlainValue(buf, valueStart, end))) {
    reader.spend(length === 0 ? 2 : 3);
    reader.pos = end;
    places.add(keyStart, keyEnd, valueStart, end);
    return;
  }
  reader.pos = before;
  const attribute = keyValueType.decode(reader, reader.size(), undefined, DEPTH.part);
  if (length > 0) places.add(keyStart, keyEnd, valueStart, end);
  else places.addOdd(attribute);
}

/** The length written at `at` if the bytes after it end exactly at `end`, otherwise -1. */
function shortLength(buf: Uint8Array, at: number, end: number): number {
  let length = 0;
  for (let i = 0; i < 4; i++) {
    const byte = buf[at + i] ?? 0;
    length |= (byte & 127) << (i * 7);
    if (byte < 128) return at + i + 1 + length === end ? length : -1;
  }
  return -1;
}

/** Whether an `AnyValue` holds a single value without nesting. */
function isPlainValue(buf: Uint8Array, start: number, end: number): boolean {
  switch (buf[start]) {
    case TEXT_TAG:
    case BYTES_TAG:
      return shortLength(buf, start + 1, end) >= 0;
    case BOOLEAN_TAG:
    case INTEGER_TAG: {
      const last = end - 1;
      if (last - start < 1 || last - start > MAX_VARINT || (buf[last] ?? 255) > 127) return false;
      for (let at = start + 1; at < last; at++) if ((buf[at] ?? 0) < 128) return false;
      return true;
    }
    case DOUBLE_TAG:
      return end - start === 9;
    default:
      return false;
  }
}
