import { promisify } from 'node:util';
import { constants, gunzip, gunzipSync, gzip } from 'node:zlib';
import type { Batch, Signal, TracesBatch } from './batch.js';
import type { TraceRecord } from './trace.js';

/** How the bytes of a request are kept: as they are, or by gzip. */
export type SentForm = 'plain' | 'gzip';

/**
 * A request of OTLP traces in protobuf that was checked and not read: whoever only passes it on needs no more than its bytes. It
 * may be several requests, one behind the other, which protobuf reads as one.
 */
export interface SentRequest {
  readonly form: SentForm;
  readonly bytes: Uint8Array;
  /** How many traces it has, each with a span at least. */
  readonly items: number;
  /** How many spans each of them has; null if not known. */
  readonly spans: readonly number[] | null;
  /** How many spans all of them have; if not known, how many traces there are. */
  readonly totalSpans: number;
  /** How many spans the largest of them has at most; Infinity where that is not known. */
  readonly mostSpans: number;
}

/** Reads the traces of a request that was checked. @param request in protobuf @throws Error for anything else */
export type OpenRequest = (request: Uint8Array, tenant: string) => TraceRecord[];

interface Unopened {
  readonly request: SentRequest;
  readonly open: OpenRequest;
}

/** The batches whose items nobody has asked for. */
const unopened = new WeakMap<object, Unopened>();

/**
 * A batch of which nobody has read the traces yet: that happens when somebody asks for `items`. From then on it is a batch like any
 * other, since whoever has the items may change them.
 */
export function sentBatch(tenant: string, request: SentRequest, open: OpenRequest): TracesBatch {
  const batch = Object.defineProperty({ tenant }, 'items', {
    enumerable: true,
    configurable: true,
    get(): TraceRecord[] {
      const value = open(plainBytes(request), tenant);
      Object.defineProperty(batch, 'items', { enumerable: true, value });
      unopened.delete(batch);
      return value;
    },
  }) as TracesBatch;
  unopened.set(batch, { request, open });
  return batch;
}

/** What a batch came as; undefined where somebody has asked for its items, and where it came otherwise. */
export function sentRequestOf(batch: Batch<unknown>): SentRequest | undefined {
  return unopened.get(batch)?.request;
}

/**
 * The items of a batch for somebody who only looks: that does not count as asking for them.
 *
 * @param mostBytes of a request that has to be read for it, uncompressed
 * @returns null where it has more
 */
export function itemsToSee(batch: Batch<unknown>, mostBytes: number): readonly unknown[] | null {
  const found = unopened.get(batch);
  if (found === undefined) return batch.items;
  const { form, bytes } = found.request;
  if (bytes.length > mostBytes) return null;
  try {
    const plain = form === 'gzip' ? gunzipSync(bytes, { maxOutputLength: mostBytes }) : bytes;
    return found.open(plain, batch.tenant);
  } catch (error) {
    // More than it may be; that it can be read was checked when it came.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** How many items a batch has, without a look at them. */
export function itemCount(batch: Batch<unknown>): number {
  return unopened.get(batch)?.request.items ?? batch.items.length;
}

/** How much there is of something: items, and what they hold. */
export interface Amount {
  readonly items: number;
  /** Spans, metric points or log records. */
  readonly contents: number;
}

/** How much a batch of a signal has, without reading a request. */
export function amountOf(batch: Batch<unknown>, signal: Signal): Amount {
  const items = itemCount(batch);
  if (signal !== 'traces') return { items, contents: items };
  const request = sentRequestOf(batch);
  if (request !== undefined) return { items, contents: request.totalSpans };
  const traces = batch.items as readonly TraceRecord[];
  return { items, contents: traces.reduce((sum, { spans }) => sum + spans.length, 0) };
}

/** How many spans each trace of a batch has; null for other signals, and if the request would have to be read for it. */
export function spanCounts(batch: Batch<unknown>, signal: Signal): readonly number[] | null {
  if (signal !== 'traces') return null;
  const request = sentRequestOf(batch);
  if (request !== undefined) return request.spans;
  return (batch.items as readonly TraceRecord[]).map(({ spans }) => spans.length);
}

/** How much of a batch was refused. @param spans of each of its items; null: an item counts as one */
export function refusedAmount(
  refused: readonly { readonly index: number }[],
  spans: readonly number[] | null,
): Amount {
  const items = refused.length;
  if (spans === null || items === 0) return { items, contents: items };
  const indices = new Set(refused.map(({ index }) => index));
  return { items, contents: [...indices].reduce((sum, index) => sum + (spans[index] ?? 0), 0) };
}

/** The same batch for somebody who takes over the list of items; the items themselves are shared where they were read. */
export function withListOfItsOwn<B extends Batch<unknown>>(batch: B): B {
  const found = unopened.get(batch);
  if (found === undefined) return { ...batch, items: [...batch.items] };
  return sentBatch(batch.tenant, found.request, found.open) as Batch<unknown> as B;
}

/** One batch of several of one tenant, the first of which says how they are read. @throws Error for those that are not plain requests, unread */
export function joinSent<B extends Batch<unknown>>(first: B, ...rest: readonly B[]): B {
  const { request, open } = plainOf(first);
  const requests = [request, ...rest.map((batch) => plainOf(batch).request)];
  const joined: SentRequest = {
    form: 'plain',
    bytes: Buffer.concat(requests.map(({ bytes }) => bytes)),
    items: requests.reduce((sum, { items }) => sum + items, 0),
    spans: requests.every(({ spans }) => spans !== null)
      ? requests.flatMap(({ spans }) => spans ?? [])
      : null,
    totalSpans: requests.reduce((sum, { totalSpans }) => sum + totalSpans, 0),
    mostSpans: Infinity,
  };
  return sentBatch(first.tenant, joined, open) as Batch<unknown> as B;
}

function plainOf(batch: object): Unopened {
  const found = unopened.get(batch);
  if (found?.request.form !== 'plain') throw new Error('only requests as they came can be put together');
  return found;
}

const compress = promisify(gzip);
const uncompress = promisify(gunzip);
/** Half the time of the default, for a seventh more bytes. */
const GZIP = { level: constants.Z_BEST_SPEED };

/** Bytes by gzip, made in another thread. */
export async function compressed(bytes: Uint8Array): Promise<Uint8Array> {
  return await compress(bytes, GZIP);
}

/** The same request in another form; the work is done in another thread. */
export async function inForm(request: SentRequest, form: SentForm): Promise<SentRequest> {
  if (request.form === form) return request;
  const { bytes } = request;
  return { ...request, form, bytes: form === 'gzip' ? await compressed(bytes) : await uncompress(bytes) };
}

function plainBytes({ form, bytes }: SentRequest): Uint8Array {
  return form === 'gzip' ? gunzipSync(bytes) : bytes;
}
