import { Type } from 'typebox';
import { parseDuration } from '../../config/duration.js';
import { validationProblem } from '../../http/field-errors.js';
import {
  MICROS_PER_DAY,
  MICROS_PER_HOUR,
  MICROS_PER_MINUTE,
  MICROS_PER_MS,
  MICROS_PER_SECOND,
} from '../../signal/time-units.js';
import { formatTime, parseTime, type Micros } from '../../signal/time.js';

/** Widths of buckets. */
export const INTERVALS = {
  '1s': MICROS_PER_SECOND,
  '10s': 10 * MICROS_PER_SECOND,
  '1m': MICROS_PER_MINUTE,
  '5m': 5 * MICROS_PER_MINUTE,
  '15m': 15 * MICROS_PER_MINUTE,
  '1h': MICROS_PER_HOUR,
  '6h': 6 * MICROS_PER_HOUR,
  '1d': MICROS_PER_DAY,
} as const;
export type Interval = keyof typeof INTERVALS;

/** Maximum number of buckets in a chart; the narrowest interval that fits is used. */
const CHART_BUCKETS = 200;
const MOST_BUCKETS = 1500;

/** The parameter `interval` of a route. @param names the narrowest first */
export function intervalParameter<Names extends readonly Interval[]>(names: Names) {
  return Type.Optional(
    Type.Enum(['auto', ...names] as ['auto', ...Names], {
      default: 'auto',
      description: `\`auto\`: the narrowest with at most ${CHART_BUCKETS} buckets. Other intervals: at most ${MOST_BUCKETS}.`,
    }),
  );
}

/** @param names the narrowest first @throws HttpProblem 422 if there would be too many buckets */
export function intervalOf<Name extends Interval>(
  names: readonly [Name, ...Name[]],
  asked: Name | 'auto',
  length: Micros,
): Name {
  const fitting = names.find((name) => length / INTERVALS[name] <= CHART_BUCKETS);
  const interval = asked === 'auto' ? (fitting ?? names.at(-1) ?? names[0]) : asked;
  if (length / INTERVALS[interval] <= MOST_BUCKETS) return interval;
  throw validationProblem('query', [
    { field: 'interval', message: `must give at most ${MOST_BUCKETS} buckets from start_time to end_time` },
  ]);
}

/**
 * The requested time range. By default, it ends now and is one day long.
 *
 * @throws HttpProblem 422 if the end is not after the start
 */
export function stretchOf(
  query: { readonly start_time?: string | undefined; readonly end_time?: string | undefined },
  now: Micros,
): { readonly start_time: Micros; readonly end_time: Micros } {
  const end_time = timeOr(query.end_time, now);
  // Limited to the earliest time that can be represented.
  const dayBefore = Math.max(end_time - MICROS_PER_DAY, Number.MIN_SAFE_INTEGER);
  const start_time = timeOr(query.start_time, dayBefore);
  if (start_time < end_time) return { start_time, end_time };
  throw validationProblem('query', [{ field: 'start_time', message: 'must be before end_time' }]);
}

function timeOr(text: string | undefined, otherwise: Micros): Micros {
  return text === undefined ? otherwise : (parseTime(text) ?? otherwise);
}

export const MOMENT_RULE = 'must be an ISO 8601 time (2026-11-30T12:00:00Z) or an age such as 90m, 24h or 7d';

/** @returns the ISO time of a text that follows {@link MOMENT_RULE}; undefined for other texts */
export function readMoment(text: string, now: Micros): string | undefined {
  const age = parseDuration(text);
  if (age !== undefined) return formatTime(now - age * MICROS_PER_MS);
  return parseTime(text) === undefined ? undefined : text;
}
