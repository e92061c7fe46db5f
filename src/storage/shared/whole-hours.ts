import { MICROS_PER_HOUR } from '../../signal/time-units.js';
import type { Micros } from '../../signal/time.js';

/** A time range, both ends included; open if one is absent. */
interface Times {
  readonly start_time?: Micros;
  readonly end_time?: Micros;
}

/** The hours entirely within a time range, since 1970; infinite at an open end. */
export interface WholeHours {
  readonly first: number;
  /** The hour after the last one. */
  readonly before: number;
}

/** A time range split into whole hours, which have stored sums, and partial hours at its ends. */
export interface HoursOfTime<Filter extends Times> {
  /** Null if there are none; `filter` is the given filter restricted to them. */
  readonly whole: (WholeHours & { readonly filter: Filter }) | null;
  readonly ends: readonly Filter[];
}

/** Splits a time range. @param filter with any further conditions */
export function hoursOfTime<Filter extends Times>(filter: Filter): HoursOfTime<Filter> {
  const { start_time: from, end_time: to } = filter;
  const first = from === undefined ? -Infinity : Math.ceil(from / MICROS_PER_HOUR);
  const before = to === undefined ? Infinity : Math.floor((to + 1) / MICROS_PER_HOUR);
  if (first >= before) return { whole: null, ends: [filter] };
  const ends: Filter[] = [];
  let whole = filter;
  if (from !== undefined) {
    const start = first * MICROS_PER_HOUR;
    if (from < start) ends.push({ ...filter, end_time: start - 1 });
    whole = { ...whole, start_time: start };
  }
  if (to !== undefined) {
    const end = before * MICROS_PER_HOUR;
    if (end <= to) ends.push({ ...filter, start_time: end });
    whole = { ...whole, end_time: end - 1 };
  }
  return { whole: { first, before, filter: whole }, ends };
}
