/** A place to which nothing may be sent. The message names addresses: it is meant for the operator's log. */
export class AddressRefusedError extends Error {
  override readonly name = 'AddressRefusedError';
}

/** The name of a receiver could not be turned into addresses. */
export class LookupFailedError extends Error {
  override readonly name = 'LookupFailedError';

  constructor(hostname: string, cause: unknown) {
    super(`no address was found for ${hostname}: ${String(cause)}`, { cause });
  }
}

/** A time limit ended the attempt. */
export class TimeLimitError extends Error {
  override readonly name = 'TimeLimitError';
  readonly limitMs: number;
  /** The awaited step. */
  readonly missing: 'connection' | 'response';

  constructor(missing: 'connection' | 'response', limitMs: number) {
    super(`no ${missing} within ${limitMs} ms`);
    this.missing = missing;
    this.limitMs = limitMs;
  }
}

/** A connection ended before it could be used, without a reason. */
export class ConnectionLostError extends Error {
  override readonly name = 'ConnectionLostError';
}

/** More came in answer to one request than is read of any answer. */
export class AnswerTooLongError extends Error {
  override readonly name = 'AnswerTooLongError';
}
