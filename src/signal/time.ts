import { itemAt } from './checked.js';
import {
  MICROS_PER_DAY,
  MICROS_PER_MS,
  MICROS_PER_SECOND,
  MS_PER_MINUTE,
  MS_PER_SECOND,
} from './time-units.js';

/** Microseconds since 1970-01-01T00:00:00Z, as an exact integer; this covers July 1684 to June 2255. */
export type Micros = number;

const DAYS_FROM_YEAR_0_TO_1970 = 719_528;
const DAYS_FROM_MARCH_OF_YEAR_0_TO_1970 = 719_468;
const DAYS_IN_400_YEARS = 146_097;
const MAX_OFFSET_HOURS = 23;
const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const;
/** Days of a common year before each month. */
const DAYS_BEFORE_MONTH = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334] as const;
/** Microseconds of each digit after the point; further digits are cut. */
const FRACTION_WEIGHTS = [100_000, 10_000, 1000, 100, 10, 1, 0, 0, 0] as const;

const ZERO = 48;
const PLUS = 43;
const COMMA = 44;
const MINUS = 45;
const POINT = 46;
const COLON = 58;

/**
 * Reads an ISO 8601 date-time: `2026-11-03T08:15:30.123456789+01:00`. `T` may be lower case or a space, seconds may be missing,
 * the fraction has 0 to 9 digits after a point or comma and is cut to microseconds, the offset is `Z`, `±hh:mm`, `±hhmm` or
 * `±hh`, and UTC if missing. A bare date is invalid.
 *
 * It compares character codes, because a batch of 100 spans has 220 times and a regular expression takes six times as long.
 *
 * @returns microseconds since the epoch; undefined if the text is not such a date-time or is outside {@link Micros}
 */
export function parseTime(text: string): Micros | undefined {
  const micros = parseAnyTime(text);
  return Number.isSafeInteger(micros) ? micros : undefined;
}

/** The same for any year; approximate beyond {@link Micros}. */
export function parseAnyTime(text: string): number | undefined {
  const end = text.length;
  // A missing or wrong digit gives -1, which fails the checks of ranges below.
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2);
  const month = twoDigits(text, 5);
  const day = twoDigits(text, 8);
  const hour = twoDigits(text, 11);
  const minute = twoDigits(text, 14);
  if (twoDigits(text, 0) < 0 || twoDigits(text, 2) < 0 || month < 1 || month > 12) return undefined;
  if (day < 1 || day > daysIn(year, month) || hour < 0 || hour > 23 || minute < 0 || minute > 59)
    return undefined;
  if (text.charCodeAt(4) !== MINUS || text.charCodeAt(7) !== MINUS || text.charCodeAt(13) !== COLON)
    return undefined;
  const separator = text.charCodeAt(10);
  if (separator !== 0x54 && separator !== 0x74 && separator !== 0x20) return undefined;

  let at = 16;
  let second = 0;
  let fraction = 0;
  if (text.charCodeAt(at) === COLON) {
    second = twoDigits(text, 17);
    if (second < 0 || second > 59) return undefined;
    at = 19;
    const point = text.charCodeAt(at);
    if (point === POINT || point === COMMA) {
      at++;
      const start = at;
      for (; at < end; at++) {
        const digit = text.charCodeAt(at) - ZERO;
        if (digit < 0 || digit > 9) break;
        const weight = FRACTION_WEIGHTS[at - start];
        if (weight === undefined) return undefined;
        fraction += digit * weight;
      }
      if (at === start) return undefined;
    }
  }
  const offset = at === end ? 0 : readOffset(text, at, end);
  if (offset === undefined) return undefined;
  const minutes = (daysSinceEpoch(year, month, day) * 24 + hour) * 60 + minute - offset;
  return (minutes * MS_PER_MINUTE + second * MS_PER_SECOND) * MICROS_PER_MS + fraction;
}

/** Prints microseconds as ISO 8601 UTC with `Z`, the fraction trimmed to the shortest of 0, 3 or 6 digits. */
export function formatTime(micros: Micros): string {
  const days = Math.floor(micros / MICROS_PER_DAY);
  const ofDay = micros - days * MICROS_PER_DAY;
  const seconds = Math.floor(ofDay / MICROS_PER_SECOND);
  const fraction = ofDay - seconds * MICROS_PER_SECOND;
  const minutes = Math.floor(seconds / 60);
  const time = `${pad(Math.floor(minutes / 60))}:${pad(minutes % 60)}:${pad(seconds % 60)}`;
  return `${formatDay(days)}T${time}${formatFraction(fraction)}Z`;
}

function formatFraction(fraction: number): string {
  if (fraction === 0) return '';
  const isWholeMs = fraction % MICROS_PER_MS === 0;
  return isWholeMs
    ? `.${String(fraction / MICROS_PER_MS).padStart(3, '0')}`
    : `.${String(fraction).padStart(6, '0')}`;
}

/**
 * Formats a day of the proleptic Gregorian calendar, `2026-11-03`. Years start in March here, so that the leap day is the last
 * day of a year and the lengths of the months before it follow a straight line.
 */
function formatDay(daysSince1970: number): string {
  const days = daysSince1970 + DAYS_FROM_MARCH_OF_YEAR_0_TO_1970;
  const era = Math.floor(days / DAYS_IN_400_YEARS);
  const ofEra = days - era * DAYS_IN_400_YEARS;
  const yearOfEra = Math.floor(
    (ofEra - Math.floor(ofEra / 1460) + Math.floor(ofEra / 36_524) - Math.floor(ofEra / 146_096)) / 365,
  );
  const ofYear = ofEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * ofYear + 2) / 153);
  const day = ofYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1;
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  const year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0);
  return `${String(year).padStart(4, '0')}-${pad(month)}-${pad(day)}`;
}

function pad(value: number): string {
  return value < 10 ? `0${String(value)}` : String(value);
}

/** The number of two digits, or -1 if there are none. */
function twoDigits(text: string, at: number): number {
  // charCodeAt gives NaN beyond the end: every comparison with it is false, so the checks are written to accept only digits.
  const tens = text.charCodeAt(at) - ZERO;
  const ones = text.charCodeAt(at + 1) - ZERO;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : -1;
}

/** The offset that fills the rest of the text, in minutes. */
function readOffset(text: string, at: number, end: number): number | undefined {
  const sign = text.charCodeAt(at);
  if (sign === 0x5a || sign === 0x7a) return end === at + 1 ? 0 : undefined;
  if (sign !== PLUS && sign !== MINUS) return undefined;
  const hours = twoDigits(text, at + 1);
  if (hours < 0 || hours > MAX_OFFSET_HOURS) return undefined;
  let minutes = 0;
  if (end !== at + 3) {
    const minutesAt = text.charCodeAt(at + 3) === COLON ? at + 4 : at + 3;
    minutes = twoDigits(text, minutesAt);
    if (minutes < 0 || minutes > 59 || end !== minutesAt + 2) return undefined;
  }
  const offset = hours * 60 + minutes;
  return sign === MINUS ? -offset : offset;
}

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

function daysIn(year: number, month: number): number {
  return month === 2 && isLeap(year) ? 29 : itemAt(MONTH_DAYS, month - 1);
}

/** Days from 1970-01-01 to a day of the proleptic Gregorian calendar. */
function daysSinceEpoch(year: number, month: number, day: number): number {
  const before = year - 1;
  const leapDays = Math.floor(before / 4) - Math.floor(before / 100) + Math.floor(before / 400);
  const thisYear = itemAt(DAYS_BEFORE_MONTH, month - 1) + (month > 2 && isLeap(year) ? 1 : 0) + day;
  // Day 1 of year 1 is 366 days after the first of year 0, which is a leap year.
  return before * 365 + leapDays + 365 + thisYear - DAYS_FROM_YEAR_0_TO_1970;
}
