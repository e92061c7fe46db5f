import type { Micros } from '../../signal/time.js';
import type { FinishedAttempt } from '../contracts/deliveries.js';

/** The attempt that somebody is making. */
interface UnderWay {
  readonly attemptedAt: Micros;
  /** Whether somebody asked for it, beside the schedule. */
  readonly isManual: boolean;
}

/** What is still to be attempted for a delivery. Plain data. */
export interface Waiting {
  /** When the schedule tries next, or when the running attempt was due; null: the schedule tries no more. */
  readonly dueAt: Micros | null;
  /** How many attempts the schedule has made. */
  readonly step: number;
  /** How many attempts were asked for and not begun. */
  readonly manual: number;
  /**
   * How many attempts were begun. No number is used twice, so that of the running attempt is its fencing token, too: a sender
   * with another number has lost its claim.
   */
  readonly attempts: number;
  readonly underWay: UnderWay | null;
}

/** An endpoint as its breaker sees it. */
export interface BreakerState {
  readonly isActive: boolean;
  /** Failed attempts in a row. */
  readonly failures: number;
}

/** A delivery of an event that was just taken. */
export function queued(now: Micros): Waiting {
  return { dueAt: now, step: 0, manual: 0, attempts: 0, underWay: null };
}

/** Whether nothing is left to do, so that the delivery has succeeded or failed. */
export function isAtRest({ dueAt, manual, underWay }: Waiting): boolean {
  return dueAt === null && manual === 0 && underWay === null;
}

/** A delivery with nothing left to do. @param attempts how many have ended */
export function atRest(attempts: number): Waiting {
  return { dueAt: null, step: 0, manual: 0, attempts, underWay: null };
}

/** After somebody asked for one more attempt. */
export function asked(waiting: Waiting): Waiting {
  return { ...waiting, manual: waiting.manual + 1 };
}

/** After somebody began the next attempt: one that was asked for, or else that of the schedule. */
export function claimed(waiting: Waiting, now: Micros): Waiting {
  const isManual = waiting.manual > 0;
  return {
    ...waiting,
    manual: waiting.manual - (isManual ? 1 : 0),
    attempts: waiting.attempts + 1,
    underWay: { attemptedAt: now, isManual },
  };
}

/** After the running attempt has ended. What was asked for meanwhile is still to be done, whatever came of it. */
export function finished(
  waiting: Waiting,
  result: Pick<FinishedAttempt, 'succeeded' | 'isGone' | 'retryAt'>,
): Waiting {
  const isScheduled = waiting.underWay?.isManual === false;
  const later = isScheduled ? result.retryAt : waiting.dueAt;
  return {
    ...waiting,
    dueAt: result.succeeded || result.isGone ? null : later,
    step: waiting.step + (isScheduled ? 1 : 0),
    underWay: null,
  };
}

/**
 * After the running attempt was given up without a result: it keeps its number and uses up nothing else. The schedule's attempt
 * is due as before, and so is one that was asked for.
 *
 * @param isActive whether its endpoint is: nothing that was asked for waits for a paused one
 */
export function interrupted(waiting: Waiting, isActive: boolean): Waiting {
  const repeats = waiting.underWay?.isManual === true && isActive;
  return { ...waiting, manual: waiting.manual + (repeats ? 1 : 0), underWay: null };
}

/** The endpoint after an attempt that was not given up. */
export function counted(
  { isActive, failures }: BreakerState,
  succeeded: boolean,
  threshold: number,
): BreakerState {
  if (succeeded) return { isActive, failures: 0 };
  return { isActive: isActive && failures + 1 < threshold, failures: failures + 1 };
}
