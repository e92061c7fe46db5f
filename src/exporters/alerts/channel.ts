import type {
  ClaimedNotice,
  NotificationAttempt,
  NotificationStatus,
} from '../../storage/contracts/alerts.js';

/** The result of sending a notice, without the fields that the loop adds. */
export interface Outcome {
  readonly status: NotificationStatus;
  readonly detail: string | null;
  /** Null if no attempt was made. */
  readonly attempt: Omit<NotificationAttempt, 'attempt_number' | 'attempted_at'> | null;
  /** The time until the next attempt; only for status `pending`. */
  readonly retryMs: number | null;
}

/** Why notices are skipped without an attempt, and whose notices. */
export interface Skip {
  readonly detail: string;
  /** The users whose untried notices are skipped; null: all users. */
  readonly userIds: readonly string[] | null;
}

/** A way in which notices reach users. */
export interface Channel {
  /** Notices that cannot be sent now; null if there are none. They are completed without using a slot. */
  toSkip(): Skip | null;
  /** Called with the number of skipped notices. */
  skipped(count: number, skip: Skip): void;
  /**
   * Makes one attempt. Every failure of the receiver is an outcome.
   *
   * @throws the signal's reason if it was aborted before the attempt ended: the notice may have been sent
   */
  send(notice: ClaimedNotice, signal: AbortSignal): Promise<Outcome>;
}

/**
 * The outcome of a failed attempt.
 *
 * @param attempt its `error` is one sentence for the user
 * @param retryMs time until the next attempt; null if it was the last
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
