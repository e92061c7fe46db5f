import type { Micros } from '../../signal/time.js';
import type { FinishedAttempt } from '../contracts/deliveries.js';

/** A running attempt. */
interface UnderWay {
  readonly attemptedAt: Micros;
  /** Whether it was requested manually, in addition to the schedule. */
  readonly isManual: boolean;
}

/** The remaining work of a delivery. Plain data. */
export interface Waiting {
  /** The next scheduled time, or when the running attempt was due; null: no further scheduled attempts. */
  readonly dueAt: Micros | null;
  /** Number of scheduled attempts made. */
  readonly step: number;
  /** Number of requested attempts that have not started. */
  readonly manual: number;
  /**
   * Number of attempts started. Numbers are never reused, so the running attempt's number is also its fencing token: a sender with
   * another number has lost its claim.
   */
  readonly attempts: number;
  readonly underWay: UnderWay | null;
}

/** The circuit-breaker state of an endpoint. */
export interface BreakerState {
  readonly isActive: boolean;
  /** Consecutive failed attempts. */
  readonly failures: number;
}

/** A delivery of a newly enqueued event. */
export function queued(now: Micros): Waiting {
  return { dueAt: now, step: 0, manual: 0, attempts: 0, underWay: null };
}

/** Whether no work remains, so that the delivery has succeeded or failed. */
export function isAtRest({ dueAt, manual, underWay }: Waiting): boolean {
  return dueAt === null && manual === 0 && underWay === null;
}

/** A delivery without remaining work. @param attempts number of finished attempts */
export function atRest(attempts: number): Waiting {
  return { dueAt: null, step: 0, manual: 0, attempts, underWay: null };
}

/** The state after one more attempt was requested. */
export function asked(waiting: Waiting): Waiting {
  return { ...waiting, manual: waiting.manual + 1 };
}

/** The state after the next attempt started: a requested one, or else the scheduled one. */
export function claimed(waiting: Waiting, now: Micros): Waiting {
  const isManual = waiting.manual > 0;
  return {
    ...waiting,
    manual: waiting.manual - (isManual ? 1 : 0),
    attempts: waiting.attempts + 1,
    underWay: { attemptedAt: now, isManual },
  };
}

/** The state after the running attempt ended. Attempts requested in the meantime remain, regardless of the result. */
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
 * The state after the running attempt was interrupted: it keeps its number and changes nothing else. A scheduled or requested attempt is
 * due as before.
 *
 * @param isActive whether the endpoint is active: paused endpoints have no requested attempts
 */
export function interrupted(waiting: Waiting, isActive: boolean): Waiting {
  const repeats = waiting.underWay?.isManual === true && isActive;
  return { ...waiting, manual: waiting.manual + (repeats ? 1 : 0), underWay: null };
}

/** The breaker state after an attempt that was not interrupted. A receiver that is gone (410) pauses its endpoint at once. */
export function counted(
  { isActive, failures }: BreakerState,
  { succeeded, isGone }: Pick<FinishedAttempt, 'succeeded' | 'isGone'>,
  threshold: number,
): BreakerState {
  if (succeeded) return { isActive, failures: 0 };
  return { isActive: isActive && !isGone && failures + 1 < threshold, failures: failures + 1 };
}
