import type { AttemptResult } from './sender.js';

/** By how much waits vary, so that what failed together does not come back together. */
const JITTER = 0.2;
/** How long busy receivers are left alone at least. */
const BUSY_MS = 60_000;
/** Too many requests, and what gateways answer for receivers that cannot keep up. */
const BUSY_STATUSES: ReadonlySet<number | null> = new Set([429, 502, 504]);

/**
 * How long to wait after a failed attempt: the schedule's delay d, varied by up to 20 %; at least a minute where the
 * receiver was busy or slow; and as long as it asked for, as far as that lies between d and 2d.
 *
 * @param scheduleMs the delay after each attempt
 * @param step attempts by the schedule that were made before this one
 * @param random from 0 (inclusive) to 1
 * @returns whole milliseconds; null: there is no further attempt
 */
export function retryDelayMs(
  scheduleMs: readonly number[],
  step: number,
  { kind, statusCode, retryAfterMs }: Pick<AttemptResult, 'kind' | 'statusCode' | 'retryAfterMs'>,
  random: number,
): number | null {
  const planned = scheduleMs[step];
  if (planned === undefined) return null;
  const leastMs = kind === 'timed_out' || BUSY_STATUSES.has(statusCode) ? BUSY_MS : 0;
  const varied = Math.max(planned, leastMs) * (1 - JITTER + 2 * JITTER * random);
  const delay = Math.max(varied, leastMs);
  return Math.round(Math.min(Math.max(retryAfterMs ?? 0, delay), 2 * delay));
}
