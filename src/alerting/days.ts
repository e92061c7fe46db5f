import type { Micros } from '../signal/time.js';
import { MS_PER_DAY, MS_PER_HOUR } from '../signal/time-units.js';

/** No local time has ever been further from UTC. */
const MOST_OFFSET_MS = 16 * MS_PER_HOUR;
/** Every change of a clock has been by full quarters of an hour, except for some in the 19th century. */
const STEP_MS = MS_PER_HOUR / 4;

/** A calendar day of a time zone. */
export interface Day {
  /** Its first moment. */
  readonly from: Micros;
  /** The first moment of the next day. */
  readonly to: Micros;
}

const calendars = new Map<string, Calendar>();

/** The calendar day of an IANA time zone that contains a moment. @throws RangeError if the zone does not exist */
export function dayOf(now: Micros, timezone: string): Day {
  let calendar = calendars.get(timezone);
  if (!calendar) {
    calendar = new Calendar(timezone);
    calendars.set(timezone, calendar);
  }
  return calendar.dayOf(now);
}

/** Whether there is a time zone of this name. */
export function isTimezone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** Day boundaries of one time zone. Caches the last day: formatters are expensive to create, and most moments are in that day. */
class Calendar {
  readonly #format: Intl.DateTimeFormat;
  #last: Day = { from: 0, to: 0 };

  constructor(timezone: string) {
    this.#format = new Intl.DateTimeFormat('en-US', {
      timeZone: timezone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
    });
  }

  dayOf(now: Micros): Day {
    if (now < this.#last.from || now >= this.#last.to) this.#last = this.#find(now);
    return this.#last;
  }

  #find(now: Micros): Day {
    const ms = Math.floor(now / 1000);
    let date = this.#dateAt(ms);
    // If clocks go back over midnight, the new date continues, although they briefly show the previous one.
    if (this.#startOf(date + 1) <= ms) date += 1;
    const from = this.#startOf(date);
    let to = this.#startOf(date + 1);
    // A zone that moves across the date line skips a date.
    if (to <= from) to = this.#startOf(date + 2);
    return { from: from * 1000, to: to * 1000 };
  }

  /** The first moment of a date, or of the next existing one: some days have no midnight. */
  #startOf(date: number): number {
    const midnight = date * MS_PER_DAY;
    let late = midnight - MOST_OFFSET_MS;
    while (this.#dateAt(late) < date) late += STEP_MS;
    let early = late - STEP_MS;
    while (late - early > 1) {
      const middle = Math.floor((early + late) / 2);
      if (this.#dateAt(middle) < date) early = middle;
      else late = middle;
    }
    return late;
  }

  /** The date that a calendar in the zone shows, in days since 1970-01-01. */
  #dateAt(ms: number): number {
    const [month = 0, day = 0, year = 0] = this.#format.format(ms).split('/').map(Number);
    return Math.floor(Date.UTC(year, month - 1, day) / MS_PER_DAY);
  }
}
