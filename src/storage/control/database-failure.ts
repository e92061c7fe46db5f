import { ConsumeError } from '../../component/consume-error.js';

/**
 * A statement or a connection failed. Drivers throw nothing else, because a database's own message may contain values of a row:
 * this text names only its code, and what cannot contain any.
 */
export class DatabaseFailure extends Error {
  override readonly name = 'DatabaseFailure';
  /** `repeat`: the same transaction may succeed at once. `fault`: it never will, because the program is wrong. */
  readonly kind: 'repeat' | 'unavailable' | 'fault';

  /** Whether there is no room to write, on the disk or in the share of it that its user may take. */
  readonly isNoRoom: boolean;

  constructor(message: string, kind: DatabaseFailure['kind'], { isNoRoom = false } = {}) {
    super(message);
    this.kind = kind;
    this.isNoRoom = isNoRoom;
  }
}

/** What callers of the store get for an error: a `ConsumeError` for a failure of the database, everything else as it is. */
export function toConsumeError(error: unknown): unknown {
  if (!(error instanceof DatabaseFailure)) return error;
  const isFault = error.kind === 'fault';
  return new ConsumeError(`The control store failed: ${error.message}`, {
    code: isFault ? 'internal_error' : 'storage_unavailable',
    retryable: !isFault,
    cause: error,
  });
}
