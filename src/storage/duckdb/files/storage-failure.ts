import { ConsumeError } from '../../../component/consume-error.js';

const UNAVAILABLE = /^(IO|Out of Memory|FATAL|INTERNAL|TransactionContext|Transaction|Connection|Interrupt)/i;

/** Part of what the appender's errors say: they leave out the kind of error. */
const INVALIDATED = 'database has been invalidated';

/** What the sender is told of an error of the database: no path, no SQL. */
export function storageFailure(cause: unknown): ConsumeError {
  if (cause instanceof ConsumeError) return cause;
  const text = cause instanceof Error ? cause.message : String(cause);
  if (UNAVAILABLE.test(text) || text.includes(INVALIDATED)) {
    return new ConsumeError('The store cannot be written or read at the moment.', {
      code: 'storage_unavailable',
      retryable: true,
      retryAfterMs: 5000,
      cause,
    });
  }
  return new ConsumeError('The store failed on this request.', {
    code: 'internal_error',
    retryable: false,
    cause,
  });
}
