import type { Clock } from '../../component/telemetry.js';
import type { Micros } from '../../signal/time.js';
import { MICROS_PER_HOUR } from '../../signal/time-units.js';

/** The period in which a user gets a limited number of mails. */
const PERIOD = MICROS_PER_HOUR;
const MOST = 20;

/** Keeps an alert that fires without end from filling its owner's mailbox. A restart forgets what was sent. */
export class MailCap {
  readonly #clock: Clock;
  /** The mails of the last hour by user, the oldest first. */
  readonly #sent = new Map<string, Micros[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether a user may get one more mail; if so, it counts. */
  take(userId: string): boolean {
    const now = this.#clock.now();
    this.#forget(now);
    const times = this.#sent.get(userId) ?? [];
    if (times.length >= MOST) return false;
    times.push(now);
    this.#sent.set(userId, times);
    return true;
  }

  /** Users who may get no more. */
  usedUp(): readonly string[] {
    this.#forget(this.#clock.now());
    return [...this.#sent].flatMap(([userId, times]) => (times.length >= MOST ? [userId] : []));
  }

  #forget(now: Micros): void {
    for (const [userId, times] of this.#sent) {
      // A clock that was put back must not stop mails for longer than the period.
      const kept = times.filter((time) => time > now - PERIOD && time <= now);
      if (kept.length === 0) this.#sent.delete(userId);
      else this.#sent.set(userId, kept);
    }
  }
}
