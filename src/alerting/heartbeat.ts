import type { Micros } from '../signal/time.js';
import type { AlertRules } from '../storage/alert-rules.js';
import { dayOf } from './days.js';
import { MICROS_PER_MINUTE } from '../signal/time-units.js';

/** Who noted nothing for longer than this, and than two intervals, counts as having been away. */
const LONGEST_SILENCE = 2 * MICROS_PER_MINUTE;
/** How long agents have, after that, to send what they did meanwhile. */
const GRACE = 5 * MICROS_PER_MINUTE;

interface HeartbeatOptions {
  readonly rules: Pick<AlertRules, 'beat'>;
  /** The identity of the telemetry that rules are evaluated by. */
  readonly source: string;
  readonly timezone: string;
  /** Milliseconds between two beats. */
  readonly intervalMs: number;
}

/** Notes beside the rules until when alerts are evaluated, and knows by that what was missed: down or standing still is the same. */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  readonly #longestSilence: number;
  #last: Micros | null = null;
  #isDayMissed = false;
  /** When it was back after it had been away. */
  #backSince: Micros | null = null;
  /** The last beat before. */
  #beforeAway: Micros | null = null;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    this.#longestSilence = Math.max(LONGEST_SILENCE, 2 * options.intervalMs * 1000);
  }

  /** Whether a day ended between two beats, and all rules were not yet judged since. */
  get isDayMissed(): boolean {
    return this.#isDayMissed;
  }

  /** @throws ConsumeError `storage_unavailable`: nothing is noted, and what was missed is found by the next one */
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
    // A restart in the time of grace is to find that it was away, too.
    if (!this.knowsActivity(now) && this.#beforeAway !== null) await rules.beat(source, this.#beforeAway);
  }

  /** The last one: says nothing where something was missed that only the next start can make up for. */
  async end(now: Micros): Promise<void> {
    if (this.hasMissed(now) || !this.knowsActivity(now)) return;
    const { rules, source } = this.#options;
    await rules.beat(source, now);
  }

  /** Whether the next beat will find that something was missed. */
  hasMissed(now: Micros): boolean {
    return this.#isAway(this.#last, now) || this.#isOfEarlierDay(this.#last, now);
  }

  /** All rules were judged, by the day that was missed, too. */
  makeUp(): void {
    this.#isDayMissed = false;
  }

  /** After it was away, silence tells nothing for a while. */
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
