import type { Field } from './codec.js';

const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Relative ranges by URL value, with labels. */
export const RANGES = {
  '1h': 'Last hour',
  '6h': 'Last 6 hours',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
  '90d': 'Last 90 days',
  all: 'All time',
} as const;

/** A time range in milliseconds; without an end it is open. */
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

/** @returns the ends of a range at a given time; undefined if invalid */
export function stretchOf(range: string, now: number): Stretch | undefined {
  if (range === 'all') return { start: undefined, end: undefined };
  const [, count, unit] = RELATIVE.exec(range) ?? [];
  if (count !== undefined)
    return { start: now - Number(count) * UNITS[unit as keyof typeof UNITS], end: undefined };
  const [, from = '', to = ''] = ABSOLUTE.exec(range) ?? [];
  const [start, end] = [Date.parse(from), Date.parse(to)];
  return start <= end ? { start, end } : undefined;
}

/** A custom range as a URL value. @param start in milliseconds, as is `end` */
export function rangeBetween(start: number, end: number): string {
  return `${new Date(start).toISOString()}..${new Date(end).toISOString()}`;
}

/** Selects the dragged range, unless it is too short to be intended. */
export function onDrawn(
  minMs: number,
  select: (range: string) => void,
): (start: number, end: number) => void {
  return (start, end) => {
    if (end - start >= minMs) select(rangeBetween(start, end));
  };
}
