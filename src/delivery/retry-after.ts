import type { Micros } from '../signal/time.js';

/** `Retry-After` in milliseconds: whole seconds, or a date. @returns undefined where it is neither */
export function readRetryAfter(value: string | undefined, now: Micros): number | undefined {
  if (value === undefined) return undefined;
  if (/^\s*\d{1,9}\s*$/.test(value)) return Number(value) * 1000;
  // `Date.parse` alone sees dates in many texts; those of HTTP begin with the name of a day.
  const at = /^\s*[A-Z][a-z]{2}/.test(value) ? Date.parse(value) : NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - Math.floor(now / 1000));
}
