import type { Micros } from '../signal/time.js';
import type { AlertRules } from '../storage/contracts/alerts.js';
import { dayOf } from './days.js';
import { MICROS_PER_MINUTE } from '../signal/time-units.js';

/** A daemon counts as absent after a gap between beats longer than this and longer than two intervals. */
const LONGEST_SILENCE = 2 * MICROS_PER_MINUTE;
/** Time after an absence for agents to send what they buffered. */
const GRACE = 5 * MICROS_PER_MINUTE;

interface HeartbeatOptions {
  readonly rules: Pick<AlertRules, 'beat'>;
  /** Identity of the telemetry store on which rules are evaluated. */
  readonly source: string;
  readonly timezone: string;
  /** Milliseconds between two beats. */
  readonly intervalMs: number;
}

/** Records next to the rules how far alerts were evaluated, to detect missed time after a stop or a stall. */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  readonly #longestSilence: number;
  #last: Micros | null = null;
  #isDayMissed = false;
  /** When the daemon came back from an absence. */
  #backSince: Micros | null = null;
  /** The last beat before the absence. */
  #beforeAway: Micros | null = null;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    this.#longestSilence = Math.max(LONGEST_SILENCE, 2 * options.intervalMs * 1000);
  }

  /** Whether a day ended between two beats, and not all rules have been evaluated since. */
  get isDayMissed(): boolean {
    return this.#isDayMissed;
  }

  /** @throws ConsumeError `storage_unavailable`: nothing is recorded, and the next beat detects the missed time */
  async beat(now: Micros): Promise<void> {
    const { rules, source } = this.#options;
    const stored = await rules.beat(source, now);
    const last = this.#last ?? stored;
    this.#last = now;
    if (this.#isAway(last, now)) {
      this.#backSince = now;
      this.#beforeAway = last;
    }
    if (this.#isOfEarlierDay(last, now)) this.#isDayMissed = true;
    // A restart during the grace period must also detect the absence.
    if (!this.knowsActivity(now) && this.#beforeAway !== null) await rules.beat(source, this.#beforeAway);
  }

  /** Writes the last beat, unless the next start must still detect missed time. */
  async end(now: Micros): Promise<void> {
    if (this.hasMissed(now) || !this.knowsActivity(now)) return;
    const { rules, source } = this.#options;
    await rules.beat(source, now);
  }

  /** Whether the next beat will detect missed time. */
  hasMissed(now: Micros): boolean {
    return this.#isAway(this.#last, now) || this.#isOfEarlierDay(this.#last, now);
  }

  /** Marks all rules as evaluated, including for the missed day. */
  makeUp(): void {
    this.#isDayMissed = false;
  }

  /** False for a while after an absence, because silence then proves nothing. */
  knowsActivity(now: Micros): boolean {
    const since = this.#backSince;
    return since === null || now < since || now >= since + GRACE;
  }

  #isAway(last: Micros | null, now: Micros): boolean {
    return last !== null && now - last > this.#longestSilence;
  }

  #isOfEarlierDay(last: Micros | null, now: Micros): boolean {
    return last !== null && last < dayOf(now, this.#options.timezone).from;
  }
}
