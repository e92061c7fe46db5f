import type { Micros } from '../../signal/time.js';

const MICROS_PER_MS = 1000;
const MICROS_PER_DAY = 86_400_000 * MICROS_PER_MS;
const MONTHS = 12;

/** The UTC calendar month of a moment, as `year * 12 + month`, the month from 0. */
export function monthOf(at: Micros): number {
  const date = new Date(at / MICROS_PER_MS);
  return date.getUTCFullYear() * MONTHS + date.getUTCMonth();
}

/** The first moment of a month. */
export function startOfMonth(month: number): Micros {
  return Date.UTC(Math.floor(month / MONTHS), month % MONTHS, 1) * MICROS_PER_MS;
}

/** The UTC day of a moment, as days since 1970. */
export function dayOf(at: Micros): number {
  return Math.floor(at / MICROS_PER_DAY);
}

/** `2026-11-26`. @param day as {@link dayOf} gives it */
export function printDay(day: number): string {
  return new Date((day * MICROS_PER_DAY) / MICROS_PER_MS).toISOString().slice(0, 'YYYY-MM-DD'.length);
}

/** `2026-11` */
export function printMonth(month: number): string {
  return new Date(startOfMonth(month) / MICROS_PER_MS).toISOString().slice(0, 'YYYY-MM'.length);
}
