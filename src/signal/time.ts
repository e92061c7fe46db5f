/** Microseconds since 1970-01-01T00:00:00Z. Exact as a JavaScript number until the year 2255. */
export type Micros = number;

const MICROS_PER_MS = 1000;
const DIGITS =
  /^\d{4}-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(?:[.,](\d{1,9}))?(?:([Zz])|([+-])(\d{2}):?(\d{2}))?$/;

/**
 * Reads an ISO 8601 date-time (decisions §1): 0 to 9 fractional digits, cut to microseconds; without an
 * offset it is UTC; a bare date is invalid.
 *
 * @returns microseconds since the epoch, or undefined where the text is no such date-time.
 */
export function parseTime(text: string): Micros | undefined {
  const found = DIGITS.exec(text);
  if (!found) return undefined;
  const [, month, day, hour, minute, second, fraction = '', , sign, offsetHours = '0', offsetMinutes = '0'] =
    found;
  const y = Number(text.slice(0, 4));
  const mo = Number(month);
  const d = Number(day);
  const h = Number(hour);
  const mi = Number(minute);
  const s = Number(second);
  const oh = Number(offsetHours);
  const om = Number(offsetMinutes);
  if (mo < 1 || mo > 12 || d < 1 || d > daysIn(y, mo) || h > 23 || mi > 59 || s > 59 || oh > 23 || om > 59)
    return undefined;
  const offset = (oh * 60 + om) * 60_000 * (sign === '-' ? -1 : 1);
  const ms = utcMs(y, mo - 1, d, h, mi, s) - offset;
  return ms * MICROS_PER_MS + Number(fraction.slice(0, 6).padEnd(6, '0'));
}

/** Prints microseconds as ISO 8601 UTC with `Z`, the fraction trimmed to the shortest of 0, 3 or 6 digits. */
export function formatTime(micros: Micros): string {
  const ms = Math.floor(micros / MICROS_PER_MS);
  const rest = micros - ms * MICROS_PER_MS;
  const iso = new Date(ms).toISOString();
  if (rest !== 0) return `${iso.slice(0, -1)}${String(rest).padStart(3, '0')}Z`;
  return iso.endsWith('.000Z') ? `${iso.slice(0, -5)}Z` : iso;
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** `Date.UTC` without its reading of years 0 to 99 as 19xx. */
function utcMs(year: number, month: number, day: number, h: number, m: number, s: number): number {
  if (year >= 100) return Date.UTC(year, month, day, h, m, s);
  const date = new Date(Date.UTC(2000, month, day, h, m, s));
  date.setUTCFullYear(year, month, day);
  return date.getTime();
}
