import type { Signal } from './batch.js';
import type { AnyBatch } from './raw-batch.js';
import type { TraceRecord } from './trace.js';

/** An amount of items and of their contents. */
export interface Amount {
  readonly items: number;
  /** Spans, metric points or log records. */
  readonly contents: number;
}

/** The number of items of a batch, without decoding it. */
export function itemCount(batch: AnyBatch): number {
  return batch.kind === 'raw' ? batch.request.items : batch.items.length;
}

/** The amount in a batch of a signal, without decoding it. */
export function amountOf(batch: AnyBatch, signal: Signal): Amount {
  const items = itemCount(batch);
  if (signal !== 'traces') return { items, contents: items };
  if (batch.kind === 'raw') return { items, contents: batch.request.totalSpans };
  const traces = batch.items as readonly TraceRecord[];
  return { items, contents: traces.reduce((sum, { spans }) => sum + spans.length, 0) };
}

/** The number of spans of each trace of a batch; null for other signals, and if it is unknown without decoding the request. */
export function spanCounts(batch: AnyBatch, signal: Signal): readonly number[] | null {
  if (signal !== 'traces') return null;
  if (batch.kind === 'raw') return batch.request.spans;
  return (batch.items as readonly TraceRecord[]).map(({ spans }) => spans.length);
}

/**
 * The refused amount of a batch.
 *
 * @param spans spans per item; null to count each item as one
 */
export function refusedAmount(
  refused: readonly { readonly index: number }[],
  spans: readonly number[] | null,
): Amount {
  const items = refused.length;
  if (spans === null || items === 0) return { items, contents: items };
  const indices = new Set(refused.map(({ index }) => index));
  return { items, contents: [...indices].reduce((sum, index) => sum + (spans[index] ?? 0), 0) };
}
