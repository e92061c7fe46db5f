import { ConsumeError } from '../../../component/consume-error.js';
import type { Clock } from '../../../component/telemetry.js';
import { pause } from '../../../telemetry/pause.js';

/** The longest pause before a commit. */
const LONGEST_PAUSE_MS = 250;
const RETRY_AFTER_MS = 5000;

/**
 * Slows ingestion while sealed segments wait for compaction: their rows are in memory, and each is replayed at the next start. From
 * half the limit every commit is delayed, longer with more segments; at the limit new data is refused.
 */
export class BackPressure {
  readonly #waiting: () => number;
  readonly #most: number;
  readonly #clock: Clock;
  #refused = 0;

  /**
   * @param waiting current number of sealed segments
   * @param most maximum number; `Infinity` for no limit
   */
  constructor(waiting: () => number, most: number, clock: Clock) {
    this.#waiting = waiting;
    this.#most = most;
    this.#clock = clock;
  }

  /** Writes refused since the start. */
  get refused(): number {
    return this.#refused;
  }

  /** @throws ConsumeError `overloaded`, retryable */
  check(): void {
    if (this.#waiting() < this.#most) return;
    this.#refused++;
    throw new ConsumeError(
      'The store receives data faster than it can compact it (extensions.duckdb.max_waiting_segments).',
      { code: 'overloaded', retryable: true, retryAfterMs: RETRY_AFTER_MS },
    );
  }

  /** Delay of the next commit in milliseconds. */
  get pauseMs(): number {
    const first = this.#most / 2;
    const over = this.#waiting() - first;
    return over < 0 || this.#most === Infinity
      ? 0
      : Math.min(1, (over + 1) / (this.#most - first)) * LONGEST_PAUSE_MS;
  }

  /** Resolves when the next commit may begin. */
  async pause(): Promise<void> {
    const { pauseMs } = this;
    if (pauseMs > 0) await pause(this.#clock, pauseMs);
  }
}
