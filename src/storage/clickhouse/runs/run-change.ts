import type { QuotaUsage } from '../../../component/consumer.js';
import type { Micros } from '../../../signal/time.js';
import type { IncomingBatch } from '../../incoming/incoming-batch.js';
import type { RunOutcome } from '../../contracts/runs.js';
import type { WantedTrace } from './stored-facts.js';
import type { OtherMessage } from './run-rows.js';

/** A change to write to runs. */
export type RunChange = BatchChange | MessageChange;

/** A batch of traces. */
export interface BatchChange {
  readonly kind: 'batch';
  readonly batch: IncomingBatch;
  /** Ids of its traces, in their order. */
  readonly traceIds: readonly string[];
  /** The exact number of new items, once counted. */
  readonly exactItems?: number;
}

/** A message about one run. */
export interface MessageChange extends WantedTrace {
  readonly kind: 'message';
  readonly at: Micros;
  /** `recompute` adds no message; it only derives the run again. */
  readonly message: OtherMessage | { readonly kind: 'recompute' };
}

/** The result of a change: it and the derived rows are stored. */
export interface ChangeAnswer {
  /** The usage of the batch's quota. */
  readonly usage?: QuotaUsage;
  /** The current outcome of the message's run; null without one. */
  readonly outcome: RunOutcome | null;
}

/** The approximate number of rows of a change. */
export function sizeOf(change: RunChange): number {
  return change.kind === 'batch' ? change.batch.spans.rows + change.batch.traces.rows : 1;
}

/** An upper bound for its new items. */
export function itemsOf({ batch }: BatchChange): number {
  let items = 0;
  for (let trace = 0; trace < batch.traces.rows; trace++)
    items += Math.max(1, batch.end(trace) - batch.start(trace));
  return items;
}

/** The traces that a change touches. */
export function tracesOf(change: RunChange): WantedTrace[] {
  if (change.kind === 'message') return [change];
  return change.traceIds.map((traceId) => ({ tenant: change.batch.tenant, traceId }));
}
