import { ConsumeError } from '../../../component/consume-error.js';
import { isUnreadable } from './damage.js';
import { isSpillRefused } from './disk-room.js';

const UNAVAILABLE = /^(IO|Out of Memory|FATAL|INTERNAL|TransactionContext|Transaction|Connection|Interrupt)/i;

/** Part of what the appender's errors say: they leave out the kind of error. */
const INVALIDATED = 'database has been invalidated';

/** Used and allowed memory in DuckDB's errors: `(60.9 MiB/61.0 MiB used)`. */
const MEMORY_USED = /\([^()/]+\/([^()/]+) used\)/;

/**
 * DuckDB's memory limit as its error states it, if that limit is too low; null for any other error. Running out of space for
 * temporary files is a different problem.
 */
export function memoryThatIsShort(error: unknown): string | null {
  if (!(error instanceof Error) || isSpillRefused(error)) return null;
  return MEMORY_USED.exec(error.message)?.[1] ?? null;
}

/** Converts a database error to one for the sender: without paths and SQL. */
export function storageFailure(cause: unknown): ConsumeError {
  if (cause instanceof ConsumeError) return cause;
  if (isUnreadable(cause)) {
    return new ConsumeError('A block of the store is damaged and cannot be read.', {
      code: 'store_damaged',
      retryable: false,
      cause,
    });
  }
  const text = cause instanceof Error ? cause.message : String(cause);
  if (UNAVAILABLE.test(text) || text.includes(INVALIDATED)) {
    return new ConsumeError('The store cannot be read or written now.', {
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
