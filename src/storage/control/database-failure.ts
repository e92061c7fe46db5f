import { ConsumeError } from '../../component/consume-error.js';

/**
 * A statement or a connection failed. Drivers throw nothing else, as what a database says of an error may hold the values of a row: the
 * text names only its code, and what cannot hold any.
 */
export class DatabaseFailure extends Error {
  override readonly name = 'DatabaseFailure';
  /** `repeat`: the same transaction may succeed at once. `fault`: it never will, the program is wrong. */
  readonly kind: 'repeat' | 'unavailable' | 'fault';

  /** Whether there is no room to write, on the disk or in what its user may take of it. */
  readonly isNoRoom: boolean;

  constructor(message: string, kind: DatabaseFailure['kind'], { isNoRoom = false } = {}) {
    super(message);
    this.kind = kind;
    this.isNoRoom = isNoRoom;
  }
}

/** What callers of the store are to see of an error: a failure of the database as a `ConsumeError`, all else as it is. */
export function toConsumeError(error: unknown): unknown {
  if (!(error instanceof DatabaseFailure)) return error;
  const isFault = error.kind === 'fault';
  return new ConsumeError(`The control store failed: ${error.message}`, {
    code: isFault ? 'internal_error' : 'storage_unavailable',
    retryable: !isFault,
    cause: error,
  });
}
