import { ConsumeError } from '../../../component/consume-error.js';
import type { Clock } from '../../../component/telemetry.js';
import { pause } from '../../../telemetry/pause.js';

/** The longest pause before a commit. */
const LONGEST_PAUSE_MS = 250;
const RETRY_AFTER_MS = 5000;

/**
 * Slows ingestion down while sealed segments wait to be moved: their rows are in memory, and each is replayed at the next start.
 * From half the bound on every commit waits, the longer the more segments there are; at the bound everything is refused.
 */
export class BackPressure {
  readonly #waiting: () => number;
  readonly #most: number;
  readonly #clock: Clock;
  #refused = 0;

  /**
   * @param waiting how many sealed segments there are now
   * @param most how many there may be; `Infinity` for no bound
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

  /** @throws ConsumeError `overloaded`, to be tried again */
  check(): void {
    if (this.#waiting() < this.#most) return;
    this.#refused++;
    throw new ConsumeError(
      'The store receives data faster than it can compact it (extensions.duckdb.max_waiting_segments).',
      { code: 'overloaded', retryable: true, retryAfterMs: RETRY_AFTER_MS },
    );
  }

  /** How long the next commit has to wait, in milliseconds. */
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
