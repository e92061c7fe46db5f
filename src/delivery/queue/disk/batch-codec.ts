import { deserialize, serialize } from 'node:v8';
import { compressSync, uncompressSync } from 'snappy';
import type { Amount } from '../../../signal/amount.js';
import type { Signal } from '../../../signal/batch.js';
import {
  inForm,
  type AnyBatch,
  type DecodeRequest,
  type RawBatch,
  type RawForm,
  type RawRequest,
} from '../../../signal/raw-batch.js';
import { NO_DIMENSIONS, wholeContext, type RunContext } from '../../../signal/run-context.js';
import { carry, sentOf, type DeriveMetadata, type SentSpan } from '../../../signal/sent-span.js';
import { UNSET_FIELDS, type SpanRecord } from '../../../signal/span.js';
import type { TraceRecord } from '../../../signal/trace.js';

/** Contents shorter than this are not packed. */
const LEAST_PACKED = 512;

/**
 * How a content is packed: items as they are serialized here, or a raw request (`signal/raw-batch.ts`). The numbers are in files:
 * append only.
 */
export const PACKING = { plain: 0, snappy: 1, requestSnappy: 2, requestGzip: 3 } as const;

/** The items of a batch as bytes. */
export interface EncodedItems {
  readonly content: Uint8Array;
  readonly packing: number;
}

/** A batch in memory, and its approximate size there. */
export interface ReadBatch {
  readonly batch: AnyBatch;
  readonly bytes: number;
}

/** Decoders for items stored by a queue on disk. */
export interface RawDecoders {
  /** Makes the `metadata` of spans that are read back. */
  readonly derive: DeriveMetadata;
  readonly decode: DecodeRequest;
}

/** A span together with its received form, which the record itself would lose. */
interface CarryingSpan {
  /** Those that are not null. */
  readonly fields: Partial<SpanFields>;
  /** `mapped` is null if the record still has the same. */
  readonly sent: Omit<SentSpan, 'mapped'> & { readonly mapped: SentSpan['mapped'] | null };
}

type SpanFields = Omit<SpanRecord, 'metadata'>;

/**
 * Converts the items of a batch to bytes and back with V8's serialization: it keeps numbers bit by bit, integers of any size, bytes
 * and shared objects, and newer versions read the output of older ones. Spans received by OTLP keep their original bytes, so that they
 * are sent on unchanged.
 */
export class BatchCodec {
  readonly signal: Signal;
  readonly #decoders: RawDecoders;
  readonly #form: RawForm;

  /** @param form in which raw requests are kept */
  constructor(signal: Signal, decoders: RawDecoders, form: RawForm = 'gzip') {
    this.signal = signal;
    this.#decoders = decoders;
    this.#form = form;
  }

  /** The plain bytes. Synchronous: some 2 µs a span. */
  serialize(items: readonly unknown[]): Buffer {
    return serialize(this.signal === 'traces' ? (items as readonly TraceRecord[]).map(laidOpen) : items);
  }

  /**
   * Packs them. Synchronous: a tenth of the time of {@link serialize}. In libuv's threads snappy kept a heap of 5 MB for each of them.
   */
  pack(plain: Buffer): EncodedItems {
    if (plain.length < LEAST_PACKED) return { content: plain, packing: PACKING.plain };
    return { content: compressSync(plain), packing: PACKING.snappy };
  }

  /**
   * A request in its stored form, which is also the form that is sent: compressed in another thread. The batch is the part that stays
   * in memory.
   */
  async packRequest(tenant: string, request: RawRequest): Promise<EncodedItems & ReadBatch> {
    const kept = await inForm(request, this.#form);
    const { bytes } = kept;
    const batch = this.#rawOf(tenant, kept);
    return kept.form === 'gzip'
      ? { content: bytes, packing: PACKING.requestGzip, batch, bytes: bytes.length }
      : {
          content: compressSync(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)),
          packing: PACKING.requestSnappy,
          batch,
          bytes: bytes.length,
        };
  }

  /** Decodes the batch. @param about its tenant and its amounts @throws Error for bytes that this version of the program cannot read */
  read(
    { content, packing }: EncodedItems,
    { tenant, items, contents }: Amount & { readonly tenant: string },
  ): ReadBatch {
    const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
    const raw = { items, spans: null, totalSpans: contents, mostSpans: Infinity };
    switch (packing) {
      case PACKING.plain:
        return this.#batchOf(tenant, bytes);
      case PACKING.snappy:
        return this.#batchOf(tenant, uncompressSync(bytes) as Buffer);
      case PACKING.requestGzip:
        return this.#readRaw(tenant, { ...raw, form: 'gzip', bytes });
      case PACKING.requestSnappy: {
        const plain = uncompressSync(bytes) as Buffer;
        return this.#readRaw(tenant, { ...raw, form: 'plain', bytes: plain });
      }
      default:
        throw new Error(
          `the record uses a compression (${packing}) that this version of Jackdaw does not support`,
        );
    }
  }

  #readRaw(tenant: string, request: RawRequest): ReadBatch {
    if (this.signal !== 'traces') throw new Error(`the record holds traces, not ${this.signal}`);
    return { batch: this.#rawOf(tenant, request), bytes: request.bytes.length };
  }

  #rawOf(tenant: string, request: RawRequest): RawBatch {
    return { kind: 'raw', tenant, request, decode: this.#decoders.decode };
  }

  #batchOf(tenant: string, plain: Buffer): ReadBatch {
    const read: unknown = deserialize(plain);
    if (!Array.isArray(read)) throw new Error('the record holds no items');
    const items: unknown[] =
      this.signal === 'traces' ? read.map((item) => this.#whole(item as LaidOpen)) : read;
    return { batch: { tenant, items }, bytes: plain.length };
  }

  #carrying({ fields: given, sent: { bytes, origin, notes, mapped } }: CarryingSpan): SpanRecord {
    const fields = whole({ ...UNSET_FIELDS, ...given } as SpanFields);
    if (mapped !== null) whole(mapped);
    const { name, status, error_message, input_data, output_data, context, started_at, ended_at } = fields;
    const same = { name, status, error_message, input_data, output_data, context, started_at, ended_at };
    return carry(fields, { bytes, origin, notes, mapped: mapped ?? same }, this.#decoders.derive);
  }

  #whole({ trace, spans }: LaidOpen): TraceRecord {
    return {
      trace: { ...ADDED_TO_HEADERS, ...trace },
      spans: spans.map((span) =>
        'sent' in span ? this.#carrying(span) : whole({ ...UNSET_FIELDS, ...span }),
      ),
    };
  }
}

/** Missing in headers of older versions. */
const ADDED_TO_HEADERS = { ...NO_DIMENSIONS, orphan_wait_ms: null };

/** Completes the context of a span of an older version in place, because spans and what was read of them share it. */
function whole<Span extends { readonly context: Partial<RunContext> | null }>(span: Span): Span {
  const { context } = span;
  if (context !== null && context.repository === undefined) Object.assign(context, wholeContext(context));
  return span;
}

interface LaidOpen {
  readonly trace: TraceRecord['trace'];
  readonly spans: readonly (SpanRecord | CarryingSpan)[];
}

function laidOpen({ trace, spans }: TraceRecord): LaidOpen {
  return { trace, spans: spans.map(openSpan) };
}

function openSpan(span: SpanRecord): SpanRecord | CarryingSpan {
  const sent = sentOf(span);
  if (sent === undefined) return span;
  const fields: Record<string, unknown> = {};
  for (const key of Object.keys(span)) {
    if (key === 'metadata') continue;
    const value = span[key as keyof SpanRecord];
    if (value !== null) fields[key] = value;
  }
  const { bytes, origin, notes, mapped } = sent;
  const isSame =
    mapped.name === span.name &&
    mapped.status === span.status &&
    mapped.error_message === span.error_message &&
    mapped.input_data === span.input_data &&
    mapped.output_data === span.output_data &&
    mapped.context === span.context &&
    mapped.started_at === span.started_at &&
    mapped.ended_at === span.ended_at;
  // Cached values of the origin are read again.
  return { fields, sent: { bytes, origin: bareOrigin(origin), notes, mapped: isSame ? null : mapped } };
}

/** One for each origin, so that data shared by spans is written once. */
const bare = new WeakMap<SentSpan['origin'], SentSpan['origin']>();

function bareOrigin(origin: SentSpan['origin']): SentSpan['origin'] {
  if (origin.read === undefined) return origin;
  let found = bare.get(origin);
  if (found === undefined) bare.set(origin, (found = { bytes: origin.bytes }));
  return found;
}
