import { stretchOf } from '../state/range.js';

export const HOUR = 3_600_000;

/** Whole hours, as milliseconds; without an end all that there are. */
export interface Hours {
  readonly start: number | undefined;
  readonly end: number | undefined;
}

/** With what a time is compared, and how far before it that lies; the time just before has its own length. */
export const AGAINST = {
  before: 'the previous period',
  day: 'a day earlier',
  week: 'a week earlier',
} as const;
const BACK = { day: 24 * HOUR, week: 7 * 24 * HOUR } as const;

/** The hours that a range has any time of, or the one hour that was chosen. @param at ISO 8601; empty for none */
export function hoursOf(range: string, at: string, now: number): Hours {
  const hour = Date.parse(at);
  if (!Number.isNaN(hour)) return { start: floor(hour), end: floor(hour) + HOUR };
  const { start, end } = stretchOf(range, now) ?? { start: undefined, end: undefined };
  if (start === undefined) return { start: undefined, end: undefined };
  return { start: floor(start), end: Math.ceil((end ?? now) / HOUR) * HOUR };
}

/** The hours that some are compared with; undefined where they have no ends. */
export function hoursBefore({ start, end }: Hours, against: keyof typeof AGAINST): Hours | undefined {
  if (start === undefined || end === undefined) return undefined;
  const back = against === 'before' ? end - start : BACK[against];
  return { start: start - back, end: end - back };
}

/** As the API and the URL of lists take them. */
export function printHours({ start, end }: Hours): { start_time?: string; end_time?: string } {
  return {
    ...(start === undefined ? {} : { start_time: new Date(start).toISOString() }),
    ...(end === undefined ? {} : { end_time: new Date(end).toISOString() }),
  };
}

function floor(ms: number): number {
  return Math.floor(ms / HOUR) * HOUR;
}
