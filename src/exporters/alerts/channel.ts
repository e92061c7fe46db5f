import type { ClaimedNotice, NotificationAttempt, NotificationStatus } from '../../storage/notices.js';

/** What became of a notice: a result without what the loop knows. */
export interface Outcome {
  readonly status: NotificationStatus;
  readonly detail: string | null;
  /** Null where none was made. */
  readonly attempt: Omit<NotificationAttempt, 'attempt_number' | 'attempted_at'> | null;
  /** Until the next attempt; for status `pending` only. */
  readonly retryMs: number | null;
}

/** Why notices are settled without an attempt, and whose. */
export interface Skip {
  readonly detail: string;
  /** Of them those that were not tried before; null for all of everybody. */
  readonly userIds: readonly string[] | null;
}

/** A way for notices to users. */
export interface Channel {
  /** What is not to be sent as things are; null for nothing. Such notices are settled without taking places. */
  toSkip(): Skip | null;
  /** Told that so many were settled so. */
  skipped(count: number, skip: Skip): void;
  /**
   * Makes one attempt. Whatever the other side does is an outcome.
   *
   * @throws the signal's reason where it fired before the attempt was over: the notice may have been sent
   */
  send(notice: ClaimedNotice, signal: AbortSignal): Promise<Outcome>;
}

/**
 * The outcome of an attempt that failed.
 *
 * @param attempt its `error` is one sentence for the user
 * @param retryMs until the next one; null for never
 */
export function failed(
  attempt: { readonly statusCode: number | null; readonly durationMs: number; readonly error: string },
  retryMs: number | null,
): Outcome {
  const { statusCode, durationMs, error } = attempt;
  return {
    status: retryMs === null ? 'failed' : 'pending',
    detail: error,
    attempt: { status_code: statusCode, duration_ms: durationMs, error_message: error },
    retryMs,
  };
}

/** The outcome of an attempt that succeeded. */
export function sent(statusCode: number | null, durationMs: number): Outcome {
  const attempt = { status_code: statusCode, duration_ms: durationMs, error_message: null };
  return { status: 'sent', detail: null, attempt, retryMs: null };
}
