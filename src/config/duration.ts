import { MS_PER_DAY, MS_PER_HOUR, MS_PER_MINUTE, MS_PER_SECOND } from '../signal/time-units.js';

/** A whole number and a unit. */
export const DURATION_PATTERN = '^(0|[1-9][0-9]{0,11})(ms|s|m|h|d)$';

const DURATION = new RegExp(DURATION_PATTERN);
const UNITS_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: MS_PER_SECOND,
  m: MS_PER_MINUTE,
  h: MS_PER_HOUR,
  d: MS_PER_DAY,
};

/** @returns the milliseconds of `250ms`, `15s`, `5m`, `2h` or `30d`, or undefined if the text is no duration. */
export function parseDuration(text: string): number | undefined {
  const found = DURATION.exec(text);
  const unit = UNITS_MS[found?.[2] ?? ''];
  return unit === undefined ? undefined : Number(found?.[1]) * unit;
}

/**
 * The milliseconds of a validated duration.
 *
 * @throws RangeError if the text is not a duration, because the caller did not validate it.
 */
export function durationMs(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined)
    throw new RangeError(
      `"${text}" is not a duration: write a number and a unit, as in 250ms, 15s, 5m, 2h, 30d`,
    );
  return ms;
}
