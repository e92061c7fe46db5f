import { ConsumeError } from '../../component/consume-error.js';

/** The error of reads while the store is being closed. */
export function closing(): ConsumeError {
  return new ConsumeError('The store is closing.', {
    code: 'storage_unavailable',
    retryable: true,
    retryAfterMs: 5000,
  });
}

/** The client has gone, so nobody sees this error. */
export function abandoned(): ConsumeError {
  return unread('The client disconnected.', 1000);
}

/** @param ms how long one read may take @param key of the configuration that says so */
export function timedOut(ms: number, key: string): ConsumeError {
  return unread(
    `The query did not finish within ${ms / 1000} s and was cancelled (${key}). Narrow the query, for example to a shorter time range, or try again later.`,
    5000,
  );
}

/** @param ms how long one read may wait @param key of the configuration that says so */
export function waitedTooLong(ms: number, key: string): ConsumeError {
  return unread(`Other reads kept the store busy for ${ms / 1000} s (${key}). Try again later.`, 5000);
}

/** The queue is full for this user, or for all. */
export function tooManyWaiting(): ConsumeError {
  return unread('The read queue is full. Try again later.', 1000);
}

/** A read that took long while much was coming in. */
export function heldUpMove(): ConsumeError {
  return unread(
    'The query was cancelled because it blocked compaction. Narrow the query, or try again later.',
    5000,
  );
}

function unread(detail: string, retryAfterMs: number): ConsumeError {
  return new ConsumeError(detail, { code: 'overloaded', retryable: true, retryAfterMs, detail });
}
