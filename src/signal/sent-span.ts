import { isDeepStrictEqual } from 'node:util';
import type { JsonObject, JsonValue } from './attributes.js';
import type { Origin } from './origin.js';
import type { RunContext } from './run-context.js';
import type { SpanRecord } from './span.js';

/** A span as received bytes: stores keep them, exporters forward them, and `metadata` is derived from them on demand. */
export interface SentSpan {
  /** A `Span` of OTLP in protobuf. */
  readonly bytes: Uint8Array;
  readonly origin: SentOrigin;
  /** Values of `metadata` found during processing, by their names in `metadata`; more may be added. */
  readonly notes: JsonObject;
  /** The record's fields as derived from the bytes. */
  readonly mapped: MappedFields;
}

/** The origin of a span, shared by all spans of a request with the same origin. */
export interface SentOrigin {
  /** A `ResourceSpans` of OTLP in protobuf, with a `ScopeSpans` without spans. */
  readonly bytes: Uint8Array;
  /** The decoded origin, once it was read. */
  read?: Origin;
}

type MappedFields = Readonly<
  Pick<SpanRecord, 'name' | 'status' | 'error_message' | 'input_data' | 'output_data'>
> &
  Readonly<Pick<SpanRecord, 'started_at' | 'ended_at'>> &
  Pick<SpanRecord, 'context'> & {
    /** The context without what the resource adds; missing if unknown. */
    readonly own_context?: RunContext | null;
  };

/** Derives `metadata` from a received span. */
export type DeriveMetadata = (sent: SentSpan) => JsonObject;

/** Data of a record in addition to its fields. */
interface Carried {
  sent: SentSpan;
  readonly derive: DeriveMetadata;
  /** `metadata` returned to a caller, who may have changed it. */
  given: JsonObject | undefined;
  /** The assigned value; undefined if none. */
  set: JsonObject | null | undefined;
}

/** Returns its argument, so that a subclass can add a private field to it. */
const Given = function (object: object): object {
  return object;
} as unknown as new (object: object) => object;

class Carrier extends Given {
  readonly #carried: Carried;

  constructor(record: object, carried: Carried) {
    super(record);
    this.#carried = carried;
  }

  static of(record: object): Carried | undefined {
    return #carried in record ? record.#carried : undefined;
  }
}

/** One descriptor for all records, so that they share a hidden class. */
const METADATA: PropertyDescriptor = {
  enumerable: true,
  configurable: true,
  get(this: object): JsonObject | null {
    const carried = Carrier.of(this);
    if (carried === undefined) return null;
    if (carried.set !== undefined) return carried.set;
    return (carried.given ??= carried.derive(carried.sent));
  },
  set(this: object, metadata: JsonObject | null) {
    const carried = Carrier.of(this);
    if (carried !== undefined) carried.set = metadata;
  },
};

/** Creates a record from its other fields; its `metadata` is derived from the received span on demand. */
export function carry(
  fields: Omit<SpanRecord, 'metadata'>,
  sent: SentSpan,
  derive: DeriveMetadata,
): SpanRecord {
  const record = Object.defineProperty(fields, 'metadata', METADATA) as SpanRecord;
  // Marks the record itself.
  return new Carrier(record, { sent, derive, given: undefined, set: undefined }) as unknown as SpanRecord;
}

/** The received span; undefined if it was received in another form, or its `metadata` was changed since. */
export function sentOf(record: SpanRecord): SentSpan | undefined {
  const carried = Carrier.of(record);
  if (carried === undefined || carried.set !== undefined) return undefined;
  const { sent, given } = carried;
  if (given !== undefined && !isDeepStrictEqual(given, carried.derive(sent))) return undefined;
  return sent;
}

/** Sets the context of a record as derived from its bytes and their origin. */
export function setMappedContext(record: SpanRecord, context: RunContext): void {
  record.context = context;
  const carried = Carrier.of(record);
  if (carried !== undefined) carried.sent.mapped.context = context;
}

/** Replaces the received span, from which `metadata` is derived. Only for records with {@link sentOf}. */
export function replaceSent(record: SpanRecord, sent: SentSpan): void {
  const carried = Carrier.of(record);
  if (carried === undefined) return;
  carried.sent = sent;
  carried.given = undefined;
}

/** Read-only `metadata`, derived on each call and not kept with the record. */
export function seenMetadata(record: SpanRecord): Readonly<JsonObject> | null {
  const carried = Carrier.of(record);
  if (carried === undefined || carried.set !== undefined || carried.given !== undefined)
    return record.metadata;
  return carried.derive(carried.sent);
}

/** The origin of a record with a received span; undefined if `metadata` was set since, which then contains the origin. */
export function originOfSent(record: SpanRecord): SentOrigin | undefined {
  const carried = Carrier.of(record);
  return carried === undefined || carried.set !== undefined ? undefined : carried.sent.origin;
}

/** Whether `metadata` was never read and is therefore unchanged. */
export function isUnseen(record: SpanRecord): boolean {
  const carried = Carrier.of(record);
  return carried !== undefined && carried.given === undefined && carried.set === undefined;
}

/** An independent copy of a record; undefined for a record without received bytes. */
export function copyCarrying<Copy extends object>(
  record: object,
  copyFields: (fields: object) => Copy,
): Copy | undefined {
  const carried = Carrier.of(record);
  if (carried === undefined || !isUnseen(record as SpanRecord)) return undefined;
  const { sent, derive } = carried;
  const fields: Record<string, unknown> = {};
  for (const key of Object.keys(record))
    if (key !== 'metadata') fields[key] = record[key as keyof typeof record];
  const copy = copyFields(fields) as unknown as Omit<SpanRecord, 'metadata'>;
  return carry(copy, { ...sent, notes: { ...sent.notes } }, derive) as unknown as Copy;
}

/** Sets a `metadata` value of the mapping. */
export function note(record: SpanRecord, name: string, value: JsonValue): void {
  const carried = Carrier.of(record);
  if (carried !== undefined && carried.set === undefined) {
    carried.sent.notes[name] = value;
    if (carried.given !== undefined) carried.given[name] = value;
  } else if (record.metadata === null) record.metadata = { [name]: value };
  else record.metadata[name] = value;
}

/** Reads a `metadata` value of the mapping. */
export function noted(record: SpanRecord, name: string): JsonValue | undefined {
  return isUnseen(record) ? Carrier.of(record)?.sent.notes[name] : record.metadata?.[name];
}

/** The tag of `start_time_unix_nano` of a `Span`, and wire types of protobuf. */
const START_TAG = 0x39;
const WIRE = { varint: 0, fixed64: 1, bytes: 2 } as const;

/** The nanoseconds of a received span's start below its microsecond: 0 to 999. Skips all other fields. */
export function startNanosOf(bytes: Uint8Array): number {
  let at = 0;
  let nanos = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 1; at < bytes.length; shift *= 128) {
      const byte = bytes[at++] ?? 0;
      value += (byte & 127) * shift;
      if (byte < 128) break;
    }
    return value;
  };
  while (at < bytes.length) {
    const tag = varint();
    const wire = tag & 7;
    if (tag === START_TAG && at + 8 <= bytes.length) {
      const view = new DataView(bytes.buffer, bytes.byteOffset + at, 8);
      // 2^32 is 296 above a multiple of 1000.
      nanos = ((view.getUint32(4, true) % 1000) * 296 + (view.getUint32(0, true) % 1000)) % 1000;
    }
    if (wire === WIRE.varint) varint();
    else if (wire === WIRE.bytes) {
      const length = varint();
      at += length;
    } else at += wire === WIRE.fixed64 ? 8 : 4;
  }
  return nanos;
}
