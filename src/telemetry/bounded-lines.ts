import type { Clock } from '../component/telemetry.js';
import { MS_PER_MINUTE } from '../signal/time-units.js';

/** Log lines that clients can cause: a bounded number is written each minute, and the rest is counted. */
export class BoundedLines {
  readonly #clock: Clock;
  readonly #most: number;
  readonly #reportRest: (count: number) => void;
  #written = 0;
  #leftOut = 0;
  #cancelTimer: (() => void) | undefined;

  /**
   * @param most maximum number of lines a minute; the first line starts the minute
   * @param reportRest logs the number of suppressed lines, at the end of a minute with any
   */
  constructor(clock: Clock, most: number, reportRest: (count: number) => void) {
    this.#clock = clock;
    this.#most = most;
    this.#reportRest = reportRest;
  }

  /** Calls `line` now, or counts it. */
  write(line: () => void): void {
    if (this.#written >= this.#most) {
      this.count();
      return;
    }
    this.#begin();
    this.#written++;
    line();
  }

  /** Counts a suppressed line. */
  count(): void {
    this.#begin();
    this.#leftOut++;
  }

  #begin(): void {
    this.#cancelTimer ??= this.#clock.after(MS_PER_MINUTE, () => {
      this.close();
    });
  }

  /** Ends the minute now: logs what it left out. */
  close(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    const leftOut = this.#leftOut;
    this.#written = 0;
    this.#leftOut = 0;
    if (leftOut > 0) this.#reportRest(leftOut);
  }
}
