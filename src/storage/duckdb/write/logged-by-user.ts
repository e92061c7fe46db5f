import type { Clock } from '../../../component/telemetry.js';
import { MICROS_PER_MINUTE } from '../../../signal/time-units.js';

/** Interval at which the same message is logged again for one user. */
const EVERY_MICROS = 10 * MICROS_PER_MINUTE;

interface Logged {
  at: number;
  /** Occurrences since then. */
  times: number;
}

/** Limits log messages that one user can cause without limit. */
export class LoggedByUser {
  readonly #clock: Clock;
  readonly #logged = new Map<number, Logged>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Call for each occurrence.
   *
   * @returns the number of occurrences since the last message if it must be logged now; else 0
   */
  happened(tenant: number): number {
    const now = this.#clock.now();
    const logged = this.#logged.get(tenant) ?? { at: -Infinity, times: 0 };
    this.#logged.set(tenant, logged);
    logged.times++;
    // If the clock was set back, log again immediately.
    if (now >= logged.at && now - logged.at < EVERY_MICROS) return 0;
    const { times } = logged;
    logged.at = now;
    logged.times = 0;
    return times;
  }
}
