import type {
  ClaimedNotice,
  NotificationAttempt,
  NotificationStatus,
} from '../../storage/contracts/alerts.js';

/** What became of a notice: a result, without what the loop knows. */
export interface Outcome {
  readonly status: NotificationStatus;
  readonly detail: string | null;
  /** Null where no attempt was made. */
  readonly attempt: Omit<NotificationAttempt, 'attempt_number' | 'attempted_at'> | null;
  /** The time until the next attempt; only for status `pending`. */
  readonly retryMs: number | null;
}

/** Why notices are settled without an attempt, and whose. */
export interface Skip {
  readonly detail: string;
  /** The users whose untried notices are skipped; null: everybody's notices. */
  readonly userIds: readonly string[] | null;
}

/** A way in which notices reach users. */
export interface Channel {
  /** What cannot be sent at the moment; null for nothing. Such notices are settled without taking places. */
  toSkip(): Skip | null;
  /** Called with the number of notices that were settled that way. */
  skipped(count: number, skip: Skip): void;
  /**
   * Makes one attempt. Whatever the other side does is an outcome.
   *
   * @throws the signal's reason where it was aborted before the attempt was over: the notice may have been sent
   */
  send(notice: ClaimedNotice, signal: AbortSignal): Promise<Outcome>;
}

/**
 * The outcome of a failed attempt.
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

/** The outcome of a successful attempt. */
export function sent(statusCode: number | null, durationMs: number): Outcome {
  const attempt = { status_code: statusCode, duration_ms: durationMs, error_message: null };
  return { status: 'sent', detail: null, attempt, retryMs: null };
}
