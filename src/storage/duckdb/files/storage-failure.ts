import { ConsumeError } from '../../../component/consume-error.js';
import { isUnreadable } from './damage.js';
import { isSpillRefused } from './disk-room.js';

const UNAVAILABLE = /^(IO|Out of Memory|FATAL|INTERNAL|TransactionContext|Transaction|Connection|Interrupt)/i;

/** Part of what the appender's errors say: they leave out the kind of error. */
const INVALIDATED = 'database has been invalidated';

/** How much of the memory that DuckDB may take is taken, as its errors say: `(60.9 MiB/61.0 MiB used)`. */
const MEMORY_USED = /\([^()/]+\/([^()/]+) used\)/;

/**
 * The memory that DuckDB may take, in its words, where an error says that this is too little; null for any other error. What does not fit
 * into memory and finds no room beside the store is another trouble.
 */
export function memoryThatIsShort(error: unknown): string | null {
  if (!(error instanceof Error) || isSpillRefused(error)) return null;
  return MEMORY_USED.exec(error.message)?.[1] ?? null;
}

/** What the sender is told of an error of the database: no path, no SQL. */
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
