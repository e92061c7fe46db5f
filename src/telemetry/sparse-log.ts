import type { Clock, Logger } from '../component/telemetry.js';

const INTERVAL_MS = 10_000;

/** Logs one thing at most once in ten seconds; the next line says how much was left out. */
export class SparseLog {
  readonly #logger: Logger;
  readonly #clock: Clock;
  #saidAt = -Infinity;
  #lines = 0;
  #items = 0;

  constructor(logger: Logger, clock: Clock) {
    this.#logger = logger;
    this.#clock = clock;
  }

  /** @param items how many items the line is about; they add up while nothing is logged */
  warn(items: number, fields: object, message: string): void {
    this.#lines += 1;
    this.#items += items;
    if (this.#clock.now() - this.#saidAt < INTERVAL_MS * 1000) return;
    this.#logger.warn({ ...fields, items: this.#items, times: this.#lines }, message);
    this.#saidAt = this.#clock.now();
    this.#lines = 0;
    this.#items = 0;
  }
}
