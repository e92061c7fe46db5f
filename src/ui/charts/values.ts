const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Distances between grid lines for durations, in milliseconds. */
export const DURATION_STEPS: readonly number[] = [
  ...[0.01, 0.1, 1, 10, 100].flatMap((unit) => [unit, 2 * unit, 5 * unit]),
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR),
  ...[1, 10, 100, 1000, 10_000, 100_000].flatMap((unit) => [unit * DAY, 2 * unit * DAY, 5 * unit * DAY]),
];

/** {@link DURATION_STEPS} in hours. */
export const HOUR_STEPS: readonly number[] = DURATION_STEPS.map((step) => step / HOUR);

type Value = number | null | undefined;

function isThere(value: Value): value is number {
  return value !== null && value !== undefined;
}

/** @returns indexes of values without neighbours, which are drawn as points */
export function isolated(values: readonly (number | null)[]): number[] {
  return [...values.keys()].filter(
    (at) => isThere(values[at]) && !isThere(values[at - 1]) && !isThere(values[at + 1]),
  );
}

/** The value axis: from zero unless a value is below, with some headroom, never empty. */
export function valueRange(
  least: number | null,
  most: number | null,
  threshold: number | undefined,
): [number, number] {
  const low = Math.min(0, least ?? 0, threshold ?? 0);
  const high = Math.max(0, most ?? 0, threshold ?? 0);
  const room = (high - low) * 0.08;
  return high === low ? [0, 1] : [low < 0 ? low - room : 0, high > 0 ? high + room : 0];
}
