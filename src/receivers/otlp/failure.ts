import { HttpProblem } from '../../component/http.js';
import { failureOf } from '../../http/problem.js';
import { OtlpDecodeError } from '../../otlp/decode/decode-error.js';
import type { Failure } from '../../otlp/wire/status.js';
import { Code } from './grpc-code.js';

/** A failure as both protocols report it. */
export interface OtlpFailure {
  readonly httpStatus: number;
  /** `google.rpc.Code` */
  readonly grpcStatus: number;
  /** With the gRPC status as its code. */
  readonly status: Failure;
}

/** By HTTP status. Clients retry on UNAVAILABLE, and on RESOURCE_EXHAUSTED with a RetryInfo. */
const CODES: Readonly<Record<number, number>> = {
  400: Code.INVALID_ARGUMENT,
  401: Code.UNAUTHENTICATED,
  403: Code.PERMISSION_DENIED,
  404: Code.UNIMPLEMENTED,
  405: Code.UNIMPLEMENTED,
  413: Code.RESOURCE_EXHAUSTED,
  415: Code.INVALID_ARGUMENT,
  421: Code.PERMISSION_DENIED,
  429: Code.RESOURCE_EXHAUSTED,
  431: Code.INVALID_ARGUMENT,
  503: Code.UNAVAILABLE,
};
const DEFAULT_RETRY_AFTER_SECONDS = 1;

/**
 * Differs from the API as OTLP requires: invalid data is always 400, and a request that did not arrive in time may be repeated,
 * which clients do for 503 but not for 408.
 */
export function otlpFailure({ status, message, errors, headers }: HttpProblem): OtlpFailure {
  const httpStatus = status === 422 ? 400 : status === 408 ? 503 : status;
  const mayRetry = httpStatus === 429 || httpStatus === 503;
  const grpcStatus = CODES[httpStatus] ?? Code.INTERNAL;
  return {
    httpStatus,
    grpcStatus,
    status: {
      code: grpcStatus,
      message,
      retryAfterSeconds: mayRetry ? Number(headers['retry-after'] ?? DEFAULT_RETRY_AFTER_SECONDS) : undefined,
      violations: httpStatus === 400 ? (errors ?? [{ field: '', message }]) : undefined,
    },
  };
}

/** The response to any thrown value, and whether it is a fault that an operator should investigate. */
export function problemOf(error: unknown): { readonly problem: HttpProblem; readonly isFault: boolean } {
  if (!(error instanceof OtlpDecodeError)) return failureOf(error);
  const { place, reason, isTooLarge } = error;
  const message = `The request${place === '' ? '' : ` at ${place}`} ${reason}.`;
  const problem = isTooLarge
    ? new HttpProblem(413, 'body_too_large', message)
    : new HttpProblem(400, 'invalid_encoding', message, { errors: [{ field: place, message: reason }] });
  return { problem, isFault: false };
}
