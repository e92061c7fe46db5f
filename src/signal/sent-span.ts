import { isDeepStrictEqual } from 'node:util';
import type { JsonObject, JsonValue } from './attributes.js';
import type { Origin } from './origin.js';
import type { SpanRecord } from './span.js';

/**
 * What a span brought, as the bytes that came: a store keeps these, an exporter passes them on, and `metadata` follows from
 * them where somebody asks for it.
 */
export interface SentSpan {
  /** A `Span` of OTLP in protobuf. */
  readonly bytes: Uint8Array;
  readonly origin: SentOrigin;
  /** What of `metadata` was found out on the way; what is noted later is added. Names of `metadata`, of which it has the same values. */
  readonly notes: JsonObject;
  /** The record's fields as the bytes give them. */
  readonly mapped: MappedFields;
}

/** Where a span came from: shared by all spans of a request that have it. */
export interface SentOrigin {
  /** A `ResourceSpans` of OTLP in protobuf, with a `ScopeSpans` without spans. */
  readonly bytes: Uint8Array;
  /** The same as records have it, once somebody has read it. */
  read?: Origin;
}

type MappedFields = Readonly<
  Pick<SpanRecord, 'name' | 'status' | 'error_message' | 'input_data' | 'output_data' | 'context'>
> &
  Readonly<Pick<SpanRecord, 'started_at' | 'ended_at'>>;

/** Makes `metadata` of what came. */
export type DeriveMetadata = (sent: SentSpan) => JsonObject;

/** What a record carries beside its fields. */
interface Carried {
  sent: SentSpan;
  readonly derive: DeriveMetadata;
  /** Given to somebody, who may have changed it. */
  given: JsonObject | undefined;
  /** What somebody set; undefined: nothing. */
  set: JsonObject | null | undefined;
}

/** Gives the object back that it is given, so that a class can add a private field to it. */
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

/** One for all records, so that they are of one class. */
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

/** Makes a record of its other fields: its `metadata` is made of what was sent, when somebody asks for it. */
export function carry(
  fields: Omit<SpanRecord, 'metadata'>,
  sent: SentSpan,
  derive: DeriveMetadata,
): SpanRecord {
  const record = Object.defineProperty(fields, 'metadata', METADATA) as SpanRecord;
  // Marks the record itself.
  return new Carrier(record, { sent, derive, given: undefined, set: undefined }) as unknown as SpanRecord;
}

/** What a span brought; undefined where it came otherwise, and where its `metadata` were changed since. */
export function sentOf(record: SpanRecord): SentSpan | undefined {
  const carried = Carrier.of(record);
  if (carried === undefined || carried.set !== undefined) return undefined;
  const { sent, given } = carried;
  if (given !== undefined && !isDeepStrictEqual(given, carried.derive(sent))) return undefined;
  return sent;
}

/** Puts something else in place of what a span brought: `metadata` follows from that. Only for spans of which {@link sentOf} tells. */
export function replaceSent(record: SpanRecord, sent: SentSpan): void {
  const carried = Carrier.of(record);
  if (carried === undefined) return;
  carried.sent = sent;
  carried.given = undefined;
}

/** `metadata`, to look at and not to change: for who asks for it in passing, it is made each time and not kept with the record. */
export function seenMetadata(record: SpanRecord): Readonly<JsonObject> | null {
  const carried = Carrier.of(record);
  if (carried === undefined || carried.set !== undefined || carried.given !== undefined)
    return record.metadata;
  return carried.derive(carried.sent);
}

/** Where a span came from that carries what it brought; undefined where `metadata` were set since, which tell it then. */
export function originOfSent(record: SpanRecord): SentOrigin | undefined {
  const carried = Carrier.of(record);
  return carried === undefined || carried.set !== undefined ? undefined : carried.sent.origin;
}

/** Whether nobody has seen the `metadata` yet, so that they certainly are what they were. */
export function isUnseen(record: SpanRecord): boolean {
  const carried = Carrier.of(record);
  return carried !== undefined && carried.given === undefined && carried.set === undefined;
}

/** A copy of a record of which neither sees what becomes of the other; undefined for one that carries nothing. */
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

/** Sets one of the names of `metadata` that the mapping fills. */
export function note(record: SpanRecord, name: string, value: JsonValue): void {
  const carried = Carrier.of(record);
  if (carried !== undefined && carried.set === undefined) {
    carried.sent.notes[name] = value;
    if (carried.given !== undefined) carried.given[name] = value;
  } else if (record.metadata === null) record.metadata = { [name]: value };
  else record.metadata[name] = value;
}

/** One of the names of `metadata` that the mapping fills. */
export function noted(record: SpanRecord, name: string): JsonValue | undefined {
  return isUnseen(record) ? Carrier.of(record)?.sent.notes[name] : record.metadata?.[name];
}
