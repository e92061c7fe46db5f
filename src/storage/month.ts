import type { Micros } from '../signal/time.js';

const MICROS_PER_MS = 1000;
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

/** `2026-11` */
export function printMonth(month: number): string {
  return new Date(startOfMonth(month) / MICROS_PER_MS).toISOString().slice(0, 'YYYY-MM'.length);
}
