import { ConsumeError } from '../../../component/consume-error.js';

/**
 * The kind of a statement's failure:
 * - `unreachable`: no or only a partial response; the statement may or may not have run
 * - `unavailable`: the server cannot run it now, or refuses access
 * - `overloaded`: the server is overloaded
 * - `mistaken`: the statement is invalid; a retry fails again
 * - `ended`: the client disconnected
 */
type FailureKind = 'unreachable' | 'unavailable' | 'overloaded' | 'mistaken' | 'ended';

/**
 * A failed statement. ClickHouse's message may quote the statement with user data, so this message has only the error's code and name,
 * unless the statement contained no user data.
 */
export class ClickHouseFailure extends Error {
  override readonly name = 'ClickHouseFailure';
  readonly kind: FailureKind;

  constructor(message: string, kind: FailureKind) {
    super(message);
    this.kind = kind;
  }

  /** Whether the same statement may succeed, on this server or another one. */
  get isPassing(): boolean {
    return this.kind !== 'mistaken' && this.kind !== 'ended';
  }
}

/** Codes of `src/Common/ErrorCodes.cpp` that mean overload. */
const OVERLOADED = new Set([
  159, // TIMEOUT_EXCEEDED
  160, // TOO_SLOW
  201, // QUOTA_EXCEEDED
  202, // TOO_MANY_SIMULTANEOUS_QUERIES
  241, // MEMORY_LIMIT_EXCEEDED
  252, // TOO_MANY_PARTS
  439, // CANNOT_SCHEDULE_TASK
  745, // SERVER_OVERLOADED
]);

/** Codes for a problem that the operator can fix, or for a degraded server. */
const UNAVAILABLE = new Set([
  60, // UNKNOWN_TABLE
  74, // CANNOT_READ_FROM_FILE_DESCRIPTOR
  75, // CANNOT_WRITE_TO_FILE_DESCRIPTOR
  81, // UNKNOWN_DATABASE
  164, // READONLY
  192, // UNKNOWN_USER
  193, // WRONG_PASSWORD
  194, // REQUIRED_PASSWORD
  209, // SOCKET_TIMEOUT
  210, // NETWORK_ERROR
  218, // TABLE_IS_DROPPED
  225, // NO_ZOOKEEPER
  236, // ABORTED
  242, // TABLE_IS_READ_ONLY
  243, // NOT_ENOUGH_SPACE
  254, // NO_ACTIVE_REPLICAS
  279, // ALL_CONNECTION_TRIES_FAILED
  285, // TOO_FEW_LIVE_REPLICAS
  286, // UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE
  289, // REPLICA_IS_NOT_IN_QUORUM
  319, // UNKNOWN_STATUS_OF_INSERT
  394, // QUERY_WAS_CANCELLED
  425, // SYSTEM_ERROR
  497, // ACCESS_DENIED
  516, // AUTHENTICATION_FAILED
  999, // KEEPER_EXCEPTION
]);

const LONGEST_MESSAGE = 1000;

/** Converts an error of the client. @param isOurs the statement contained no user data */
export function toFailure(error: unknown, isOurs = false): ClickHouseFailure {
  if (error instanceof ClickHouseFailure) return error;
  const { code, type, message } = wordsOf(error);
  // The client reports the server's error codes as strings.
  if (/^\d+$/.test(code)) {
    const words = isOurs ? `: ${message}` : '';
    const answer = `ClickHouse answered with error ${code}${type === '' ? '' : ` (${type})`}${words}`;
    return new ClickHouseFailure(answer, kindOf(Number(code)));
  }
  if (message.includes('aborted a request')) return givenUp();
  if (code !== '') return new ClickHouseFailure(`no response (${code})`, 'unreachable');
  // The client's own messages, such as `Timeout error.`, quote no statement.
  return new ClickHouseFailure(`no response: ${message}`, 'unreachable');
}

export function givenUp(): ClickHouseFailure {
  return new ClickHouseFailure('the client disconnected', 'ended');
}

function kindOf(code: number): FailureKind {
  if (OVERLOADED.has(code)) return 'overloaded';
  return UNAVAILABLE.has(code) ? 'unavailable' : 'mistaken';
}

function wordsOf(error: unknown): { readonly code: string; readonly type: string; readonly message: string } {
  if (!(error instanceof Error)) return { code: '', type: '', message: String(error) };
  return {
    code: 'code' in error ? String(error.code) : '',
    type: 'type' in error && typeof error.type === 'string' ? error.type : '',
    message: error.message.replaceAll(/\s+/g, ' ').slice(0, LONGEST_MESSAGE),
  };
}

/** Converts any error to the type that components handle. */
export function toConsumeError(error: unknown): ConsumeError {
  if (error instanceof ConsumeError) return error;
  const failure = toFailure(error);
  const message = `The store request failed: ${failure.message}`;
  if (failure.kind === 'mistaken')
    return new ConsumeError(message, { code: 'internal_error', retryable: true, cause: failure });
  const isOverloaded = failure.kind === 'overloaded';
  return new ConsumeError(message, {
    code: isOverloaded ? 'overloaded' : 'storage_unavailable',
    retryable: true,
    retryAfterMs: isOverloaded ? 1000 : 5000,
    cause: failure,
  });
}
