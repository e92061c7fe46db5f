import type { Clock } from '../../component/telemetry.js';
import { MICROS_PER_MS } from '../../signal/time-units.js';

/**
 * A batch held by a plugin. Its time limit runs only while the plugin itself works, not while it waits for downstream components.
 */
export class HeldCall {
  readonly #clock: Clock;
  /** Remaining time of the plugin, in microseconds; null: no limit. */
  #left: number | null;
  #since: number;
  #behind = 0;
  #cancel: () => void = () => undefined;
  #onLate: () => void = () => undefined;
  #isLate = false;
  #hasEnded = false;
  #wentOn = false;
  /** Rejects when the time is over. */
  readonly late: Promise<never>;

  /** @param limitMs null: no limit, until {@link giveUp} is called */
  constructor(clock: Clock, limitMs: number | null, lateError: () => Error) {
    this.#clock = clock;
    this.#left = limitMs === null ? null : limitMs * MICROS_PER_MS;
    this.#since = clock.now();
    this.late = new Promise((_, reject) => {
      this.#onLate = () => {
        reject(lateError());
      };
    });
    // The promise may reject when nothing awaits it any more.
    this.late.catch(() => undefined);
  }

  get isLate(): boolean {
    return this.#isLate;
  }

  /** Whether the plugin itself is working on it now. */
  get isHeld(): boolean {
    return !this.#hasEnded && this.#behind === 0;
  }

  /** Whether the plugin has passed on the batch or a part of it. */
  get wentOn(): boolean {
    return this.#wentOn;
  }

  /** Starts the timer while the plugin works. */
  watch(): void {
    if (!this.isHeld || this.#isLate) return;
    this.#since = this.#clock.now();
    if (this.#left === null) return;
    this.#cancel = this.#clock.after(Math.max(0, this.#left / MICROS_PER_MS), () => {
      this.giveUp();
    });
  }

  /** Pauses the timer while the plugin waits for downstream components. */
  goBehind(): void {
    this.#wentOn = true;
    this.#behind += 1;
    if (this.#behind > 1) return;
    this.#cancel();
    if (this.#left !== null) this.#left -= Math.max(0, this.#clock.now() - this.#since);
  }

  comeBack(): void {
    this.#behind -= 1;
    this.watch();
  }

  giveUp(): void {
    if (this.#isLate || this.#hasEnded) return;
    this.#isLate = true;
    this.#cancel();
    this.#onLate();
  }

  end(): void {
    this.#hasEnded = true;
    this.#cancel();
  }
}
