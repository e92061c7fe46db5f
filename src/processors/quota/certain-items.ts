import type { TelemetrySignal } from '../../signal/batch.js';

/**
 * How many items of a batch count for certain, if the store takes any of it. Of spans none: whether they are repeats, only the store
 * knows. Log records are all stored, whatever was stored before. Of points some may be refused one by one, and if all are, nothing is
 * stored; so it is one.
 */
export const CERTAIN_ITEMS: Readonly<Record<TelemetrySignal, (items: number) => number>> = {
  traces: () => 0,
  metrics: (items) => Math.min(items, 1),
  logs: (items) => items,
};
