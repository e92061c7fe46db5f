import { ConsumeError, type ConsumeErrorCode } from '../../component/consume-error.js';
import type { QuotaUsage } from '../../component/consumer.js';
import type { SpelledError } from '../../worker/thread-protocol.js';
import { ConflictError } from '../meta-store.js';
import { StoreOpenError } from './store-open-error.js';

/** Errors of the store thread as those of this side. */
export function revive({ name, message, stack, fields }: SpelledError): Error {
  const error = revived(name, message, fields);
  if (stack !== undefined) error.stack = stack;
  return error;
}

function revived(name: string, message: string, fields: SpelledError['fields']): Error {
  if (name === 'ConflictError')
    return new ConflictError(typeof fields.field === 'string' ? fields.field : '', message);
  if (name === 'StoreOpenError') return new StoreOpenError(message);
  if (name === 'ConsumeError') {
    return new ConsumeError(message, {
      code: fields.code as ConsumeErrorCode,
      retryable: fields.retryable === true,
      ...(typeof fields.retryAfterMs === 'number' ? { retryAfterMs: fields.retryAfterMs } : {}),
      ...(typeof fields.detail === 'string' ? { detail: fields.detail } : {}),
      ...(typeof fields.usage === 'object' ? { usage: fields.usage as unknown as QuotaUsage } : {}),
    });
  }
  return new Error(message);
}
