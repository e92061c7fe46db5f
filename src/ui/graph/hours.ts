import { stretchOf } from '../state/range.js';

export const HOUR = 3_600_000;

/** Whole hours in milliseconds; without an end the range is open. */
export interface Hours {
  readonly start: number | undefined;
  readonly end: number | undefined;
}

/** Comparison periods and their offsets. The previous period has the length of the range. */
export const AGAINST = {
  before: 'the previous period',
  day: 'a day earlier',
  week: 'a week earlier',
} as const;
const BACK = { day: 24 * HOUR, week: 7 * 24 * HOUR } as const;

/** The hours that a range touches, or the one selected hour. @param at ISO 8601; empty for none */
export function hoursOf(range: string, at: string, now: number): Hours {
  const hour = Date.parse(at);
  if (!Number.isNaN(hour)) return { start: floor(hour), end: floor(hour) + HOUR };
  const { start, end } = stretchOf(range, now) ?? { start: undefined, end: undefined };
  if (start === undefined) return { start: undefined, end: undefined };
  return { start: floor(start), end: Math.ceil((end ?? now) / HOUR) * HOUR };
}

/** The hours to compare with; undefined for open ranges. */
export function hoursBefore({ start, end }: Hours, against: keyof typeof AGAINST): Hours | undefined {
  if (start === undefined || end === undefined) return undefined;
  const back = against === 'before' ? end - start : BACK[against];
  return { start: start - back, end: end - back };
}

/** As query parameters of the API and of list URLs. */
export function printHours({ start, end }: Hours): { start_time?: string; end_time?: string } {
  return {
    ...(start === undefined ? {} : { start_time: new Date(start).toISOString() }),
    ...(end === undefined ? {} : { end_time: new Date(end).toISOString() }),
  };
}

function floor(ms: number): number {
  return Math.floor(ms / HOUR) * HOUR;
}
