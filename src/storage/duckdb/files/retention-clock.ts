import type { Logger } from '../../../component/telemetry.js';
import { formatTime, type Micros } from '../../../signal/time.js';
import type { ClockNote } from './clock-notes.js';
import type { HealthIssues } from './health-issues.js';

/** The largest step of a trusted clock between two checks, which are an hour apart while the daemon runs. */
const LARGEST_STEP = 2 * 86_400_000_000;
/** How long a clock must run steadily after a jump before it is trusted. */
const CONFIRMED_AFTER = 86_400_000_000;
const TROUBLE = 'the clock is ahead';

interface Parts {
  /** Kept in the main file. */
  readonly notes: { read(): Promise<ClockNote | null>; write(note: ClockNote): Promise<void> };
  /** When the newest run was last seen; null if there are no runs. */
  readonly seenUpTo: () => Promise<Micros | null>;
  readonly healthIssues: HealthIssues;
  readonly logger: Logger;
}

/**
 * The time that retention uses. A clock that is years ahead for an hour would remove everything permanently, so a clock more than
 * two days ahead of the last trusted time is trusted only after it has run on for a day. Until then retention uses the last
 * trusted time. A clock that is set back is trusted at once, because it removes less.
 */
export class RetentionClock {
  readonly #parts: Parts;
  /** Null until it has been read. */
  #note: ClockNote | null = null;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Whether retention waits for the clock to be confirmed. */
  get isWaiting(): boolean {
    return this.#note !== null && this.#note.ahead !== null;
  }

  /** @param now what the clock says @returns the time to go by */
  async trusted(now: Micros): Promise<Micros> {
    const known = this.#note ?? (await this.#known(now));
    const note = next(known, now);
    this.#note = note;
    try {
      await this.#parts.notes.write(note);
    } catch (error) {
      // It may fail on a full disk, where retention is needed most.
      this.#parts.logger.warn({ err: error }, 'Could not save the retention clock.');
    }
    this.#tell(note, known, now);
    return Math.min(now, note.trustedAt);
  }

  async #known(now: Micros): Promise<ClockNote> {
    const { notes, seenUpTo } = this.#parts;
    return (await notes.read()) ?? { trustedAt: (await seenUpTo()) ?? now, ahead: null };
  }

  #tell({ trustedAt, ahead }: ClockNote, before: ClockNote, now: Micros): void {
    const { healthIssues, logger } = this.#parts;
    if (ahead === null) {
      healthIssues.set(TROUBLE, null);
      if (before.ahead !== null)
        logger.info({ clock: formatTime(now) }, 'The system clock is trusted again; retention resumed.');
      return;
    }
    const message = `The clock jumped ahead to ${formatTime(ahead.since)}; the last trusted time is ${formatTime(trustedAt)}. Retention uses that time until ${formatTime(ahead.since + CONFIRMED_AFTER)}, a day after the jump. If the clock is wrong, correct it.`;
    healthIssues.set(TROUBLE, message);
    if (before.ahead?.since !== ahead.since) logger.warn({ clock: formatTime(now) }, message);
  }
}

function next({ trustedAt, ahead }: ClockNote, now: Micros): ClockNote {
  if (now <= trustedAt + LARGEST_STEP) return { trustedAt: now, ahead: null };
  const goesOn = ahead !== null && now >= ahead.at && now <= ahead.at + LARGEST_STEP;
  if (!goesOn) return { trustedAt, ahead: { since: now, at: now } };
  if (now >= ahead.since + CONFIRMED_AFTER) return { trustedAt: now, ahead: null };
  return { trustedAt, ahead: { since: ahead.since, at: now } };
}
