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

/** What became of a batch. */
export interface Passed {
  /** How long that took, waiting for what is behind included. */
  readonly ms: number;
  /** Why items were refused, by their position. */
  readonly refused: ReadonlyMap<number, string>;
  /** Why nothing of it was taken, a ConsumeError as a rule; undefined where something was. */
  readonly error?: unknown;
}

/** Looks at what passes an edge, while it is being passed. */
export interface EdgeListener {
  /**
   * Called with every batch before it is handed over, of whomever it is. It must be quick, and keep and change nothing of the batch.
   *
   * @returns what is to be told what became of it
   */
  offer(batch: AnyBatch, signal: Signal): ((passed: Passed) => void) | undefined;
}
