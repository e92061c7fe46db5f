import type { Field } from './codec.js';

const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Ranges that end now, as they stand in the URL, and how they are called. */
export const RANGES = {
  '1h': 'Last hour',
  '6h': 'Last 6 hours',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
  '90d': 'Last 90 days',
  all: 'All time',
} as const;

/** A stretch of time, both ends in milliseconds; without an end it goes on. */
export interface Stretch {
  readonly start: number | undefined;
  readonly end: number | undefined;
}

const RELATIVE = /^([1-9]\d{0,3})([mhd])$/;
const ABSOLUTE = /^(\d{4}-\d\d-\d\dT[\d:.]+Z)\.\.(\d{4}-\d\d-\d\dT[\d:.]+Z)$/;

/** `7d`, `all`, or `2026-11-24T00:00:00.000Z..2026-11-25T00:00:00.000Z`. */
export function rangeField(initial: string): Field<string> {
  return {
    initial,
    parse: (value) => (stretchOf(value, 0) === undefined ? undefined : value),
    print: (value) => (value === initial ? undefined : value),
  };
}

/** @returns what a range means at a time; undefined where it is none */
export function stretchOf(range: string, now: number): Stretch | undefined {
  if (range === 'all') return { start: undefined, end: undefined };
  const [, count, unit] = RELATIVE.exec(range) ?? [];
  if (count !== undefined)
    return { start: now - Number(count) * UNITS[unit as keyof typeof UNITS], end: undefined };
  const [, from = '', to = ''] = ABSOLUTE.exec(range) ?? [];
  const [start, end] = [Date.parse(from), Date.parse(to)];
  return start <= end ? { start, end } : undefined;
}

/** The range between two moments, in milliseconds, as it stands in the URL. */
export function rangeBetween(start: number, end: number): string {
  return `${new Date(start).toISOString()}..${new Date(end).toISOString()}`;
}

/** What drawing over a chart does: it chooses the time, unless that is too short to have been meant. */
export function onDrawn(
  leastMs: number,
  choose: (range: string) => void,
): (start: number, end: number) => void {
  return (start, end) => {
    if (end - start >= leastMs) choose(rangeBetween(start, end));
  };
}
