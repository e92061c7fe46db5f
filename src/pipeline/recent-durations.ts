import type { Clock } from '../component/telemetry.js';
import { MICROS_PER_MINUTE } from '../signal/time-units.js';
import type { Micros } from '../signal/time.js';

/** Each bucket ends 10% higher than the one before. */
const STEP = Math.log(1.1);
/** Milliseconds; shorter durations count as this. */
const SHORTEST = 0.01;
/** The last bucket ends at about a quarter of an hour; longer durations count as that. */
const BUCKETS = 193;

/** Durations of the current and the previous minute, in buckets: memory does not grow with their number. */
export class RecentDurations {
  readonly #clock: Clock;
  #now = new Uint32Array(BUCKETS);
  #before = new Uint32Array(BUCKETS);
  /** When the current minute began. */
  #since: Micros;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#since = clock.now();
  }

  record(ms: number): void {
    this.#rotate();
    const bucket = ms <= SHORTEST ? 0 : Math.min(BUCKETS - 1, Math.ceil(Math.log(ms / SHORTEST) / STEP));
    this.#now[bucket] = (this.#now[bucket] ?? 0) + 1;
  }

  /** @param share from 0 to 1 @returns the quantile in milliseconds, at most 10% too high; null without durations */
  quantile(share: number): number | null {
    this.#rotate();
    const counts = this.#now.map((count, bucket) => count + (this.#before[bucket] ?? 0));
    const total = counts.reduce((sum, count) => sum + count, 0);
    if (total === 0) return null;
    let below = 0;
    const bucket = counts.findIndex((count) => (below += count) >= share * total);
    return SHORTEST * Math.exp(STEP * bucket);
  }

  #rotate(): void {
    const age = this.#clock.now() - this.#since;
    // A clock that was set back also starts a new minute.
    if (age >= 0 && age < MICROS_PER_MINUTE) return;
    [this.#now, this.#before] = [this.#before, this.#now];
    this.#now.fill(0);
    if (age < 0 || age >= 2 * MICROS_PER_MINUTE) this.#before.fill(0);
    this.#since = this.#clock.now();
  }
}
