import type { Clock } from '../../../component/telemetry.js';
import { MICROS_PER_MINUTE } from '../../../signal/time-units.js';

/** How often the log repeats, for one user, that the same has happened again. */
const EVERY_MICROS = 10 * MICROS_PER_MINUTE;

interface Said {
  at: number;
  /** How often it has happened since then. */
  times: number;
}

/** Keeps what one user can make happen as often as it likes from filling the log: says when it is time to log it again. */
export class SaidByUser {
  readonly #clock: Clock;
  readonly #said = new Map<number, Said>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * To be called each time it happens.
   *
   * @returns how often it has happened since it was last logged, if it is to be logged now; else 0
   */
  happened(tenant: number): number {
    const now = this.#clock.now();
    const said = this.#said.get(tenant) ?? { at: -Infinity, times: 0 };
    this.#said.set(tenant, said);
    said.times++;
    // A clock that was set back must not silence it for long.
    if (now >= said.at && now - said.at < EVERY_MICROS) return 0;
    const { times } = said;
    said.at = now;
    said.times = 0;
    return times;
  }
}
