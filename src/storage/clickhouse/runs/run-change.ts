import type { QuotaUsage } from '../../../component/consumer.js';
import type { Micros } from '../../../signal/time.js';
import type { IncomingBatch } from '../../incoming/incoming-batch.js';
import type { RunOutcome } from '../../contracts/runs.js';
import type { WantedTrace } from './stored-facts.js';
import type { OtherMessage } from './run-rows.js';

/** Something that is to be written of runs. */
export type RunChange = BatchChange | MessageChange;

/** A batch of traces. */
export interface BatchChange {
  readonly kind: 'batch';
  readonly batch: IncomingBatch;
  /** Ids of its traces, in their order. */
  readonly traceIds: readonly string[];
  /** Once it was found out how many of its items are new. */
  readonly exactItems?: number;
}

/** What somebody says of one run. */
export interface MessageChange extends WantedTrace {
  readonly kind: 'message';
  readonly at: Micros;
  /** `settle`: nothing is said, only what follows from everything is worked out anew. */
  readonly message: OtherMessage | { readonly kind: 'settle' };
}

/** What became of a change: it is stored, and so is what follows from it. */
export interface ChangeAnswer {
  /** How the quota stands that the batch counts for. */
  readonly usage?: QuotaUsage;
  /** Of the run that a message is about, as it is now; null where there is none. */
  readonly outcome: RunOutcome | null;
}

/** How many rows a change brings, roughly. */
export function sizeOf(change: RunChange): number {
  return change.kind === 'batch' ? change.batch.spans.rows + change.batch.traces.rows : 1;
}

/** How many items it brings, at most. */
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
