import type { Clock } from '../../../component/telemetry.js';
import { MICROS_PER_MINUTE } from '../../../signal/time-units.js';

/** Interval at which the same message is logged again for one user. */
const EVERY_MICROS = 10 * MICROS_PER_MINUTE;

interface Said {
  at: number;
  /** Occurrences since then. */
  times: number;
}

/** Limits log messages that one user can cause without limit. */
export class SaidByUser {
  readonly #clock: Clock;
  readonly #said = new Map<number, Said>();

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
    const said = this.#said.get(tenant) ?? { at: -Infinity, times: 0 };
    this.#said.set(tenant, said);
    said.times++;
    // If the clock was set back, log again immediately.
    if (now >= said.at && now - said.at < EVERY_MICROS) return 0;
    const { times } = said;
    said.at = now;
    said.times = 0;
    return times;
  }
}
