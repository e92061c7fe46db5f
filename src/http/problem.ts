import { STATUS_CODES } from 'node:http';
import { ConsumeError, type ConsumeErrorCode } from '../component/consume-error.js';
import { HttpProblem, type HttpResponse } from '../component/http.js';
import { quotaHeaders } from './quota-headers.js';
import { MS_PER_SECOND } from '../signal/time-units.js';

/** Retry delay for errors that do not set their own. */
const RETRY_AFTER_SECONDS: Readonly<Partial<Record<ConsumeErrorCode, number>>> = {
  overloaded: 1,
  rate_limited: 1,
  shutting_down: 5,
  storage_unavailable: 5,
  internal_error: 1,
};

/** Details of 5xx responses, unless an error has its own text for the sender. Fixed sentences, so that no internals leak. */
const DETAILS: Readonly<
  Record<'overloaded' | 'shutting_down' | 'storage_unavailable' | 'store_damaged' | 'internal_error', string>
> = {
  overloaded: 'The server is overloaded. Nothing was stored; retry later.',
  shutting_down: 'The service is shutting down. Nothing was stored; send the request again later.',
  storage_unavailable: 'The store cannot accept data now. Nothing was stored; send the request again later.',
  store_damaged:
    'Stored data for this request is damaged. Other data is still served. Ask an administrator to run "jackdaw store check".',
  internal_error: 'Internal error. The log has the details under this request id.',
};

/** The response to a failure, and whether it is a fault that an operator should investigate. */
interface Failure {
  readonly problem: HttpProblem;
  /** Whether it is an internal fault, which is logged with its stack. */
  readonly isFault: boolean;
}

/**
 * Converts anything a handler threw into an RFC 9457 problem. Errors other than {@link HttpProblem} and {@link ConsumeError} become a
 * 500 without details.
 */
export function failureOf(error: unknown): Failure {
  if (error instanceof HttpProblem) return { problem: error, isFault: false };
  if (error instanceof ConsumeError) {
    return { problem: problemOfConsumeError(error), isFault: error.code === 'internal_error' };
  }
  return { problem: new HttpProblem(500, 'internal_error', DETAILS.internal_error), isFault: true };
}

/** 503 `overloaded`. */
export function overloaded(): HttpProblem {
  return refusal(503, 'overloaded', DETAILS.overloaded, undefined);
}

/** 503 `shutting_down`. */
export function shuttingDown(): HttpProblem {
  return refusal(503, 'shutting_down', DETAILS.shutting_down, undefined);
}

function problemOfConsumeError(error: ConsumeError): HttpProblem {
  switch (error.code) {
    case 'overloaded':
    case 'shutting_down':
    case 'storage_unavailable':
      return refusal(503, error.code, error.detail ?? DETAILS[error.code], error.retryAfterMs);
    case 'quota_exceeded':
    case 'storage_exceeded':
    case 'rate_limited':
      return refusal(429, error.code, error.message, error.retryAfterMs, quotaHeaders(error.usage));
    case 'validation_failed':
      return new HttpProblem(422, error.code, error.message);
    case 'store_damaged':
      return new HttpProblem(500, error.code, DETAILS.store_damaged);
    case 'internal_error':
      return error.retryable
        ? refusal(503, error.code, DETAILS.internal_error, error.retryAfterMs)
        : new HttpProblem(500, error.code, DETAILS.internal_error);
  }
}

function refusal(
  status: number,
  code: ConsumeErrorCode,
  detail: string,
  retryAfterMs: number | undefined,
  headers: Readonly<Record<string, string>> = {},
): HttpProblem {
  const seconds =
    retryAfterMs === undefined
      ? RETRY_AFTER_SECONDS[code]
      : Math.max(1, Math.ceil(retryAfterMs / MS_PER_SECOND));
  return new HttpProblem(status, code, detail, {
    headers: { ...(seconds !== undefined && { 'retry-after': String(seconds) }), ...headers },
  });
}

/** The headers of a problem response: its own, and the challenge of a 401. */
export function headersOf(problem: HttpProblem): Readonly<Record<string, string>> {
  return { ...(problem.status === 401 && { 'www-authenticate': 'Bearer' }), ...problem.headers };
}

/** A problem as `application/problem+json`. */
export function problemResponse(problem: HttpProblem) {
  const { status, code, errors } = problem;
  const title = STATUS_CODES[status] ?? 'Error';
  const body = {
    type: 'about:blank',
    title,
    status,
    detail: problem.message,
    code,
    ...(errors && { errors }),
  };
  return {
    status,
    headers: { ...headersOf(problem), 'content-type': 'application/problem+json' },
    body: JSON.stringify(body),
  } satisfies HttpResponse;
}
