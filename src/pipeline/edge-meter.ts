import type { Clock } from '../component/telemetry.js';
import type { EdgeObserver } from './observe.js';
import { RecentDurations } from './recent-durations.js';

/** Counts what passes one edge. A batch costs it a few additions. */
export class EdgeMeter implements EdgeObserver {
  offered = 0;
  accepted = 0;
  refused = 0;
  failed = 0;
  readonly #durations: RecentDurations;

  constructor(clock: Clock) {
    this.#durations = new RecentDurations(clock);
  }

  /** Of the last one to two minutes; null: no batch passed. */
  get p99Ms(): number | null {
    return this.#durations.quantile(0.99);
  }

  offer(items: number): void {
    this.offered += items;
  }

  take(accepted: number, refused: number): void {
    this.accepted += accepted;
    this.refused += refused;
  }

  fail(items: number): void {
    this.failed += items;
  }

  end(ms: number): void {
    this.#durations.record(ms);
  }
}
