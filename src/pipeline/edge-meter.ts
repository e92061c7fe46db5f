import type { EdgeListener, Passed } from '../component/edge-listener.js';
import type { Clock } from '../component/telemetry.js';
import type { Batch, Signal } from '../signal/batch.js';
import type { Amount } from '../signal/sent-request.js';
import type { EdgeObserver } from './observe.js';
import { RecentDurations } from './recent-durations.js';

/** Counts what passes one edge, and lets others look at it. A batch costs a few additions while nobody looks. */
export class EdgeMeter implements EdgeObserver {
  offered = 0;
  accepted = 0;
  refused = 0;
  failed = 0;
  readonly #durations: RecentDurations;
  readonly #signal: Signal;
  readonly #listeners = new Set<EdgeListener>();

  constructor(signal: Signal, clock: Clock) {
    this.#signal = signal;
    this.#durations = new RecentDurations(clock);
  }

  /** Of the last one to two minutes; null: no batch passed. */
  get p99Ms(): number | null {
    return this.#durations.quantile(0.99);
  }

  /** @returns a function that ends it */
  listen(listener: EdgeListener): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  look(batch: Batch<unknown>): ((passed: Passed) => void) | undefined {
    if (this.#listeners.size === 0) return undefined;
    const tells = [...this.#listeners].flatMap((listener) => listener.offer(batch, this.#signal) ?? []);
    if (tells.length === 0) return undefined;
    return (passed) => {
      for (const tell of tells) tell(passed);
    };
  }

  offer({ items }: Amount): void {
    this.offered += items;
  }

  take(accepted: Amount, refused: Amount): void {
    this.accepted += accepted.items;
    this.refused += refused.items;
  }

  fail({ items }: Amount): void {
    this.failed += items;
  }

  end(ms: number): void {
    this.#durations.record(ms);
  }
}
