import type { Batch, Signal, TracesBatch } from '../../signal/batch.js';

/** How many items of a batch count: spans, and traces without any; of the other signals each one. */
export const ITEM_COUNTS: Readonly<{ [S in Signal]: (batch: Batch<unknown>) => number }> = {
  traces: (batch) =>
    (batch as TracesBatch).items.reduce((sum, { spans }) => sum + Math.max(1, spans.length), 0),
  metrics: ({ items }) => items.length,
  logs: ({ items }) => items.length,
  events: ({ items }) => items.length,
};
