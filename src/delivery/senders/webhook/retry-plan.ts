import type { AttemptResult } from './sender.js';

/** Variation of delays, so that deliveries that failed together are not retried together. */
const JITTER = 0.2;
/** How long busy receivers are left alone at least. */
const BUSY_MS = 60_000;
/** The longest delay that a receiver may request. */
const MOST_ASKED_MS = 24 * 3_600_000;
/** Too many requests, and the responses of gateways for overloaded receivers. */
const BUSY_STATUSES: ReadonlySet<number | null> = new Set([429, 502, 504]);

/**
 * The delay after a failed attempt: the schedule's delay d, varied by up to 20 %; at least a minute if the receiver was busy or slow;
 * if it requested a longer delay, that one, up to {@link MOST_ASKED_MS}.
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
  return Math.round(Math.max(Math.min(retryAfterMs ?? 0, MOST_ASKED_MS), delay));
}
