import type { Clock, Logger } from '../component/telemetry.js';
import { MICROS_PER_MS, MS_PER_SECOND } from '../signal/time-units.js';

const INTERVAL_MS = 10 * MS_PER_SECOND;

/** Logs a message at most once per interval, ten seconds by default; the next line contains the number of suppressed ones. */
export class SparseLog {
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #intervalMs: number;
  #loggedAt = -Infinity;
  #lines = 0;
  #items = 0;

  /** @param intervalMs longer than the time after which the same may fail again */
  constructor(logger: Logger, clock: Clock, intervalMs = INTERVAL_MS) {
    this.#logger = logger;
    this.#clock = clock;
    this.#intervalMs = intervalMs;
  }

  /** @param items number of items that the line covers; suppressed lines add up */
  warn(items: number, fields: object, message: string): void {
    this.#lines += 1;
    this.#items += items;
    if (this.#clock.now() - this.#loggedAt < this.#intervalMs * MICROS_PER_MS) return;
    const count = this.#items === 0 ? {} : { items: this.#items };
    this.#logger.warn({ ...fields, ...count, times: this.#lines }, message);
    this.#loggedAt = this.#clock.now();
    this.#lines = 0;
    this.#items = 0;
  }
}
