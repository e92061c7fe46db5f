// Errors that contracts throw, and how they cross between threads.

import { ConsumeError, type ConsumeErrorCode } from '../../component/consume-error.js';
import type { QuotaUsage } from '../../component/consumer.js';
import type { Micros } from '../../signal/time.js';
import { MICROS_PER_MS } from '../../signal/time-units.js';
import type { SerializedError } from '../../worker/thread-protocol.js';

/**
 * A unique name already exists (`email`, `slug`, `version` of a prompt), or a `prompt` violates a rule that the message states.
 */
export class ConflictError extends Error {
  override readonly name = 'ConflictError';
  readonly field: string;
  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}

/** The error of reads while the store is being closed. */
export function closing(): ConsumeError {
  return new ConsumeError('The store is closing.', {
    code: 'storage_unavailable',
    retryable: true,
    retryAfterMs: 5000,
  });
}

/** For reads of disconnected clients; never sent. */
export function abandoned(): ConsumeError {
  return unread('The client disconnected.', 1000);
}

/** @param ms maximum duration of a read @param key its configuration key */
export function timedOut(ms: number, key: string): ConsumeError {
  return unread(
    `The query did not finish within ${ms / 1000} s and was cancelled (${key}). Narrow the query, for example to a shorter time range, or try again later.`,
    5000,
  );
}

/** @param ms maximum waiting time of a read @param key its configuration key */
export function waitedTooLong(ms: number, key: string): ConsumeError {
  return unread(`Other reads kept the store busy for ${ms / 1000} s (${key}). Try again later.`, 5000);
}

/** The read queue is full, for this user or in total. */
export function tooManyWaiting(): ConsumeError {
  return unread('The read queue is full. Try again later.', 1000);
}

/** For a long read that was cancelled because it blocked compaction. */
export function heldUpMove(): ConsumeError {
  return unread(
    'The query was cancelled because it blocked compaction. Narrow the query, or try again later.',
    5000,
  );
}

function unread(detail: string, retryAfterMs: number): ConsumeError {
  return new ConsumeError(detail, { code: 'overloaded', retryable: true, retryAfterMs, detail });
}

/**
 * Rows of a list were removed between two of its pages. Ending the list there would make it look complete; on a retry the caller gets
 * "not found".
 *
 * @param what was removed, and the list that it has
 */
export function removedMeanwhile({
  what,
  list,
}: {
  readonly what: string;
  readonly list: string;
}): ConsumeError {
  const detail = `The ${what} was removed while its ${list} were being read.`;
  return new ConsumeError(detail, { code: 'storage_unavailable', retryable: true, detail });
}

/**
 * For a request that would exceed its sender's monthly limit.
 *
 * @param usage the quota without the request
 * @param items minimum number of items that the request would add
 * @param at when the request was received
 */
export function quotaExceeded(usage: QuotaUsage, items: number, at: Micros): ConsumeError {
  const { limit, used, resets_at } = usage;
  return new ConsumeError(
    `The monthly limit of ${limit} events would be exceeded: ${used} are used and this request adds ${items}. None of it was stored. The next month begins at ${new Date(resets_at / MICROS_PER_MS).toISOString()}.`,
    { code: 'quota_exceeded', retryable: true, retryAfterMs: (resets_at - at) / MICROS_PER_MS, usage },
  );
}

/** Errors of these classes carry only a message; the class identifies the thrower. */
type PlainErrorClass = new (message: string) => Error;

/**
 * Recreates errors of a store's thread in this thread: contract errors by their class, anything else as an `Error`.
 *
 * @param own further classes, by error name
 */
export function deserializeError(
  { name, message, stack, fields }: SerializedError,
  own: Readonly<Record<string, PlainErrorClass>> = {},
): Error {
  const error = deserialized(name, message, fields, own[name]);
  if (stack !== undefined) error.stack = stack;
  return error;
}

function deserialized(
  name: string,
  message: string,
  fields: SerializedError['fields'],
  Own: PlainErrorClass = Error,
): Error {
  if (name === 'ConflictError')
    return new ConflictError(typeof fields.field === 'string' ? fields.field : '', message);
  if (name === 'RangeError') return new RangeError(message);
  if (name === 'ConsumeError') {
    return new ConsumeError(message, {
      code: fields.code as ConsumeErrorCode,
      retryable: fields.retryable === true,
      ...(typeof fields.retryAfterMs === 'number' ? { retryAfterMs: fields.retryAfterMs } : {}),
      ...(typeof fields.detail === 'string' ? { detail: fields.detail } : {}),
      ...(typeof fields.usage === 'object' ? { usage: fields.usage as unknown as QuotaUsage } : {}),
    });
  }
  return new Own(message);
}

/** A store cannot be used: it is not open, is closed, or its thread has ended. */
export function unavailable(message: string, cause?: unknown): ConsumeError {
  return new ConsumeError(message, {
    code: 'storage_unavailable',
    retryable: true,
    retryAfterMs: 5000,
    cause,
  });
}

/** A telemetry store is used before it is opened or after it is closed. */
export function notOpen(): ConsumeError {
  return unavailable('The store is not open.');
}
