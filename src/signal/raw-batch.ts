import { promisify } from 'node:util';
import { constants, gunzip, gunzipSync, gzip } from 'node:zlib';
import type { Batch, TracesBatch } from './batch.js';
import type { TraceRecord } from './trace.js';

/** The compression of a raw request. */
export type RawForm = 'plain' | 'gzip';

/**
 * An OTLP protobuf request of traces that was checked but not decoded. It may be several concatenated requests, which protobuf
 * reads as one.
 */
export interface RawRequest {
  readonly form: RawForm;
  readonly bytes: Uint8Array;
  /** Number of traces, each with at least one span. */
  readonly items: number;
  /** Number of spans of each trace; null if unknown. */
  readonly spans: readonly number[] | null;
  /** Number of spans of all traces; the number of traces if unknown. */
  readonly totalSpans: number;
  /** Upper bound for the spans of one trace; Infinity if unknown. */
  readonly mostSpans: number;
}

/**
 * Decodes a checked request.
 *
 * @param request in protobuf, not compressed
 * @throws Error for any other data
 */
export type DecodeRequest = (request: Uint8Array, tenant: string) => TraceRecord[];

/** Traces in the form of their request, for components that forward requests without decoding them. */
export interface RawBatch {
  readonly kind: 'raw';
  readonly tenant: string;
  readonly request: RawRequest;
  readonly decode: DecodeRequest;
}

/** A batch in either form. */
export type AnyBatch = Batch<unknown> | RawBatch;

/** The records of a batch. A raw batch is decoded at each call. */
export function recordsOf(batch: RawBatch): TracesBatch;
export function recordsOf(batch: AnyBatch): Batch<unknown>;
export function recordsOf(batch: AnyBatch): Batch<unknown> {
  if (batch.kind !== 'raw') return batch;
  const { tenant, request, decode } = batch;
  const plain = request.form === 'gzip' ? gunzipSync(request.bytes) : request.bytes;
  return { tenant, items: decode(plain, tenant) };
}

/**
 * The items of a batch.
 *
 * @returns null if the request has more than `mostBytes`, uncompressed
 */
export function itemsWithin(batch: AnyBatch, mostBytes: number): readonly unknown[] | null {
  if (batch.kind !== 'raw') return batch.items;
  const { form, bytes } = batch.request;
  if (bytes.length > mostBytes) return null;
  try {
    const plain = form === 'gzip' ? gunzipSync(bytes, { maxOutputLength: mostBytes }) : bytes;
    return batch.decode(plain, batch.tenant);
  } catch (error) {
    // Larger than `mostBytes` after decompression; the receiver has checked everything else.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/**
 * Joins batches of one tenant and kind, raw or records, into one.
 *
 * @throws Error for a compressed request
 */
export function joined(batches: readonly [AnyBatch, ...AnyBatch[]]): AnyBatch {
  const [first, ...rest] = batches;
  if (rest.length === 0) return first;
  if (first.kind === 'raw') return joinRaw([first, ...rest.filter((batch) => batch.kind === 'raw')]);
  return { tenant: first.tenant, items: batches.flatMap((batch) => recordsOf(batch).items) };
}

function joinRaw(batches: readonly [RawBatch, ...RawBatch[]]): RawBatch {
  const requests = batches.map(({ request }) => request);
  if (requests.some(({ form }) => form !== 'plain')) throw new Error('only plain requests can be joined');
  const request: RawRequest = {
    form: 'plain',
    bytes: Buffer.concat(requests.map(({ bytes }) => bytes)),
    items: requests.reduce((sum, { items }) => sum + items, 0),
    spans: requests.every(({ spans }) => spans !== null)
      ? requests.flatMap(({ spans }) => spans ?? [])
      : null,
    totalSpans: requests.reduce((sum, { totalSpans }) => sum + totalSpans, 0),
    mostSpans: Infinity,
  };
  return { ...batches[0], request };
}

const compress = promisify(gzip);
const uncompress = promisify(gunzip);
/** Takes half the time of the default level, for a seventh more bytes. */
const GZIP = { level: constants.Z_BEST_SPEED };

/** Compresses bytes with gzip, in another thread. */
export async function compressed(bytes: Uint8Array): Promise<Uint8Array> {
  return await compress(bytes, GZIP);
}

/** Converts a request to another form, in another thread. */
export async function inForm(request: RawRequest, form: RawForm): Promise<RawRequest> {
  if (request.form === form) return request;
  const { bytes } = request;
  return { ...request, form, bytes: form === 'gzip' ? await compressed(bytes) : await uncompress(bytes) };
}
