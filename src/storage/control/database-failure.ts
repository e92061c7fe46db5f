import { ConsumeError } from '../../component/consume-error.js';

/**
 * A statement or a connection failed. Drivers throw only this error: a database's own message may contain values of a row, so this
 * message contains only its code and fixed text.
 */
export class DatabaseFailure extends Error {
  override readonly name = 'DatabaseFailure';
  /** `repeat`: the same transaction may succeed at once. `fault`: it never will, because of a bug. */
  readonly kind: 'repeat' | 'unavailable' | 'fault';

  /** Whether the disk, or the quota of its user, is full. */
  readonly isNoRoom: boolean;

  constructor(message: string, kind: DatabaseFailure['kind'], { isNoRoom = false } = {}) {
    super(message);
    this.kind = kind;
    this.isNoRoom = isNoRoom;
  }
}

/** Converts an error for callers of the store: a failure of the database to a `ConsumeError`, others unchanged. */
export function toConsumeError(error: unknown): unknown {
  if (!(error instanceof DatabaseFailure)) return error;
  const isFault = error.kind === 'fault';
  return new ConsumeError(`The control store failed: ${error.message}`, {
    code: isFault ? 'internal_error' : 'storage_unavailable',
    retryable: !isFault,
    cause: error,
  });
}
