import type { Clock } from '../../../component/telemetry.js';

/** How often it is said of one user that the same has happened again. */
const EVERY_MICROS = 10 * 60 * 1_000_000;

interface Said {
  at: number;
  /** Since then. */
  times: number;
}

/** What one user can make happen as often as it likes, and what the log is to say of it now and then only. */
export class SaidByUser {
  readonly #clock: Clock;
  readonly #said = new Map<number, Said>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** It happened. @returns how often since that was last said, where it is to be said now; else 0 */
  happened(tenant: number): number {
    const now = this.#clock.now();
    const said = this.#said.get(tenant) ?? { at: -Infinity, times: 0 };
    this.#said.set(tenant, said);
    said.times++;
    // A clock that was set back does not make it silent for long.
    if (now >= said.at && now - said.at < EVERY_MICROS) return 0;
    const { times } = said;
    said.at = now;
    said.times = 0;
    return times;
  }
}
