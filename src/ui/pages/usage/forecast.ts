const DAY_MS = 86_400_000;
/** Full days needed for a forecast. */
const MIN_DAYS = 2;
/** Days used for a forecast: one week, each weekday once. */
const MAX_DAYS = 7;

interface Day {
  readonly date: string;
  readonly events: number | null;
}

export interface Forecast {
  /** Events at the end of the UTC month if the rest continues at the same rate. */
  readonly total: number;
  readonly perDay: number;
  /** Full days that `perDay` averages. */
  readonly days: number;
  /** UTC date on which the limit is reached; null if not in this month. */
  readonly reachedOn: string | null;
}

/**
 * Projects the usage of the month from the mean of the last full days.
 *
 * @param used events of the month so far
 * @param days by UTC day, today last
 * @param now milliseconds since the epoch
 * @returns null with too few full days
 */
export function forecast(
  used: number,
  limit: number | null,
  days: readonly Day[],
  resetsAt: string,
  now: number,
): Forecast | null {
  const today = new Date(now).toISOString().slice(0, 10);
  const whole = days.filter(({ date, events }) => events !== null && date < today).slice(-MAX_DAYS);
  if (whole.length < MIN_DAYS) return null;
  const perDay = whole.reduce((sum, { events }) => sum + (events ?? 0), 0) / whole.length;
  const left = Math.max(0, Date.parse(resetsAt) - now) / DAY_MS;
  const total = Math.round(used + perDay * left);
  const reachedAt =
    limit === null || perDay === 0 || total < limit
      ? null
      : now + (Math.max(0, limit - used) / perDay) * DAY_MS;
  return {
    total,
    perDay,
    days: whole.length,
    reachedOn: reachedAt === null ? null : new Date(reachedAt).toISOString().slice(0, 10),
  };
}
