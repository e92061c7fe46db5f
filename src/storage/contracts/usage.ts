import type { Micros } from '../../signal/time.js';

/** The items of a user that were counted in a month. */
export interface MonthlyCount {
  /** A UTC month, `2026-11`. */
  readonly period: string;
  readonly used: number;
  /** The first moment of the next month. */
  readonly resets_at: Micros;
}

/** The items of a user that were counted in a UTC day. */
export interface DailyCount {
  /** `2026-11-26` */
  readonly date: string;
  /** Null: the store did not count by day yet. */
  readonly events: number | null;
}

/**
 * What counts for users' quotas. A count is exact as soon as the write that it counts has been answered, and never sinks: repeats are not
 * counted, and what retention removes stays counted. May throw a `ConsumeError` with `storage_unavailable` (retryable).
 */
export interface Usage {
  /** Of the month of `now`. */
  read(userId: string, now: Micros): Promise<MonthlyCount>;
  /** Of as many days as asked for, up to that of `now`, the oldest first. @param days at least 1 */
  days(userId: string, now: Micros, days: number): Promise<readonly DailyCount[]>;
}
