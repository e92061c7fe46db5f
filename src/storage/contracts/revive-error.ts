import { ConsumeError, type ConsumeErrorCode } from '../../component/consume-error.js';
import type { QuotaUsage } from '../../component/consumer.js';
import type { SpelledError } from '../../worker/thread-protocol.js';
import { ConflictError } from './conflict-error.js';

/** The text of an error is all that it has: its class tells who throws it. */
type PlainErrorClass = new (message: string) => Error;

/**
 * Errors of a store's thread as those of this side: what contracts throw, by its class; anything else as an `Error`.
 *
 * @param own further classes, by the names of their errors
 */
export function reviveError(
  { name, message, stack, fields }: SpelledError,
  own: Readonly<Record<string, PlainErrorClass>> = {},
): Error {
  const error = revived(name, message, fields, own[name]);
  if (stack !== undefined) error.stack = stack;
  return error;
}

function revived(
  name: string,
  message: string,
  fields: SpelledError['fields'],
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
