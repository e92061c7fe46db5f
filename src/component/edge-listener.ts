import type { Signal } from '../signal/batch.js';
import type { AnyBatch } from '../signal/raw-batch.js';
import type { Kind } from './component-id.js';

/** A component at one end of an edge. */
export interface EdgeEnd {
  readonly kind: Exclude<Kind, 'extension'>;
  readonly id: string;
}

/** Names an edge: each pipeline has one at most from one component to another. */
export interface EdgePlace {
  readonly pipeline: string;
  readonly from: EdgeEnd;
  readonly to: EdgeEnd;
}

/** The outcome of a batch. */
export interface Passed {
  /** Duration in milliseconds, including the time downstream. */
  readonly ms: number;
  /** Why items were refused, by their position. */
  readonly refused: ReadonlyMap<number, string>;
  /** Why nothing of it was taken, a ConsumeError as a rule; undefined where something was. */
  readonly error?: unknown;
}

/** Observes the batches that pass an edge. */
export interface EdgeListener {
  /**
   * Called with every batch of any user before it is handed over. It must be quick, and must not keep or change the batch.
   *
   * @returns a function that receives the outcome
   */
  offer(batch: AnyBatch, signal: Signal): ((passed: Passed) => void) | undefined;
}
