import { itemCount } from '../../signal/amount.js';
import { MAX_REQUEST_ITEMS } from '../../signal/batch.js';
import { joined, recordsOf, type AnyBatch } from '../../signal/raw-batch.js';
import type { Micros } from '../../signal/time.js';
import type { BatchLimits } from './config.js';
import { itemBytes } from './memory-size.js';
import type { Lane, QueuedBatch } from './memory-queue.js';

/** The smallest span of a raw request: its ids, its start and the bytes around them. */
const LEAST_SPAN_BYTES = 39;

/**
 * A batch as parcels within the limits. The parts are new lists of the same items: the batch itself may be shared and is not
 * touched. An item larger than the limits goes alone.
 *
 * @param about.id the batch's name, if it has one: its parts have names that follow from it
 */
export function queuedBatchesOf(
  batch: AnyBatch,
  limits: BatchLimits,
  about: { readonly receivedAt: Micros; readonly queuedAt: Micros; readonly id?: string | undefined },
): readonly QueuedBatch[] {
  if (batch.kind === 'raw') {
    const { items, bytes } = batch.request;
    if (fits(items, bytes.length, limits)) return [{ batch, bytes: bytes.length, ...about }];
  }
  const records = recordsOf(batch);
  const { items, tenant } = records;
  const sizes = itemBytes(items);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const parts = items.reduce<number>((sum, item) => sum + partsOf(item), 0);
  if (fits(items.length, total, limits) && parts <= MAX_REQUEST_ITEMS)
    return [{ batch: records, bytes: total, ...about }];
  const queuedBatches: QueuedBatch[] = [];
  let start = 0;
  let bytes = 0;
  let partsIn = 0;
  const close = (end: number): void => {
    const id = about.id === undefined ? undefined : `${about.id}.${queuedBatches.length}`;
    if (end > start)
      queuedBatches.push({ ...about, id, batch: { tenant, items: items.slice(start, end) }, bytes });
    start = end;
    bytes = 0;
    partsIn = 0;
  };
  sizes.forEach((size, index) => {
    const more = partsOf(items[index]);
    const isFull = bytes + size > limits.maxBytes || partsIn + more > MAX_REQUEST_ITEMS;
    if (index - start >= limits.maxItems || (index > start && isFull)) close(index);
    bytes += size;
    partsIn += more;
  });
  close(items.length);
  return queuedBatches;
}

/** The units of an outgoing request: each span of a run, or a point or record. */
function partsOf(item: unknown): number {
  const { spans } = item as { readonly spans?: readonly unknown[] };
  return spans === undefined ? 1 : Math.max(1, spans.length);
}

/** An upper bound for the parts of a parcel: those of a raw request follow from its size. */
function mostPartsOf({ batch, bytes }: QueuedBatch): number {
  if (batch.kind === 'raw') return bytes / LEAST_SPAN_BYTES;
  return batch.items.reduce<number>((sum, item) => sum + partsOf(item), 0);
}

function fits(items: number, bytes: number, { maxItems, maxBytes }: BatchLimits): boolean {
  return items <= maxItems && bytes <= maxBytes;
}

/** How many of a lane's first parcels make up the next batch: as many as the limits allow, at least one. One with a name goes alone. */
export function queuedBatchesOfNext(lane: Lane, limits: BatchLimits): number {
  let items = 0;
  let bytes = 0;
  let parts = 0;
  const [first] = lane.queuedBatches;
  const kind = first?.batch.kind;
  const end = lane.queuedBatches.findIndex((queuedBatch, index) => {
    items += itemCount(queuedBatch.batch);
    bytes += queuedBatch.bytes;
    parts += mostPartsOf(queuedBatch);
    if (index === 0) return false;
    const isNamed = queuedBatch.id !== undefined || first?.id !== undefined;
    return (
      isNamed || queuedBatch.batch.kind !== kind || !fits(items, bytes, limits) || parts > MAX_REQUEST_ITEMS
    );
  });
  return end < 0 ? lane.queuedBatches.length : end;
}

/** When a lane's next batch should go: at once when it is full, otherwise when its oldest parcel has waited long enough. */
export function dueAt(lane: Lane, limits: BatchLimits & { readonly maxWaitMs: number }): Micros {
  const isFull = lane.items >= limits.maxItems || lane.bytes >= limits.maxBytes;
  return isFull ? 0 : (lane.queuedBatches[0]?.queuedAt ?? 0) + limits.maxWaitMs * 1000;
}

/** One batch of parcels of one tenant and kind: a new list of the same items, or one request. */
export function mergeQueuedBatches(queuedBatches: readonly [QueuedBatch, ...QueuedBatch[]]): QueuedBatch {
  const [first, ...rest] = queuedBatches;
  if (rest.length === 0) return first;
  return {
    ...first,
    batch: joined([first.batch, ...rest.map(({ batch }) => batch)]),
    bytes: queuedBatches.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}
