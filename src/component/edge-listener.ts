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

/** Some of the items that passed an edge, and the number of the others. */
export interface EdgeSample {
  /** Of plain values. */
  readonly items: readonly object[];
  readonly lost: number;
}

/** A listener that accepts samples. */
export interface SampledListener {
  /** Whose items it wants; null for those of all users. */
  readonly userId: string | null;
  /** Adds a sample of an intake thread. Resolves when it was read; until then the thread sends no other one. */
  add(sample: EdgeSample): Promise<void>;
}

/** Observes the batches that pass an edge. */
export interface EdgeListener {
  /** Lets intake threads sample their batches for it. If absent, the pipeline runs on the main thread while it listens. */
  readonly sampled?: SampledListener;
  /**
   * Called with every batch of any user before it is handed over. It must be quick, and must not keep or change the batch.
   *
   * @returns a function that receives the outcome
   */
  offer(batch: AnyBatch, signal: Signal): ((passed: Passed) => void) | undefined;
}
