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

/** Pages with a time range in their URL, and the range without one. */
export const PAGE_RANGES = {
  '/': '24h',
  '/agents': '30d',
  '/agents/:id': '30d',
  '/compare/agents': '7d',
  '/explore/metrics': '24h',
  '/logs': '24h',
  '/map': '24h',
  '/models': '30d',
  '/runs': 'all',
  '/sessions': 'all',
  '/tools': '7d',
  '/users': '30d',
} as const;

/** @returns the range of a page without one in its URL; undefined for pages without ranges */
export function rangeOfPage(path: string): string | undefined {
  const ranges: Readonly<Record<string, string>> = PAGE_RANGES;
  return ranges[path.replace(/^\/agents\/[^/]+$/, '/agents/:id')];
}

const RELATIVE = /^([1-9]\d{0,3})([mhd])$/;
const ABSOLUTE = /^(\d{4}-\d\d-\d\dT[\d:.]+Z)\.\.(\d{4}-\d\d-\d\dT[\d:.]+Z)$/;

/** The longest range of pages that cannot show all time. */
export const LONGEST = '90d';

/**
 * `7d`, `all`, or `2026-11-24T00:00:00.000Z..2026-11-25T00:00:00.000Z`. A range that the user set stays in the
 * URL even if it is the default, because other pages have other defaults.
 *
 * @param isBounded whether the page cannot show all time
 */
export function rangeField(initial: string, isBounded = false): Field<string> {
  return {
    initial,
    parse: (value) => {
      if (isBounded && value === 'all') return LONGEST;
      return stretchOf(value, 0) === undefined ? undefined : value;
    },
    print: (value, isSet = false) => (value === initial && !isSet ? undefined : value),
  };
}

/** Whether a range has fixed ends. */
export function isFixed(range: string): boolean {
  return stretchOf(range, 0)?.end !== undefined;
}

/** The number of ranges whose predecessors are kept. */
const MAX_ZOOMS = 100;
const zooms = new Map<string, string>();

/** Records the range from which the user came to a fixed one. */
export function recordZoom(from: string, to: string): void {
  if (from === to || !isFixed(to) || zooms.has(to) || zooms.get(from) === to) return;
  const [oldest] = zooms.keys();
  if (zooms.size >= MAX_ZOOMS && oldest !== undefined) zooms.delete(oldest);
  zooms.set(to, from);
}

/** @returns the range before a fixed one, unless it came by a link */
export function zoomedFrom(range: string): string | undefined {
  return zooms.get(range);
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
