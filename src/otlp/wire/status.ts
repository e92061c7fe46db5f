import { badRequestType, retryInfoType, statusType } from './messages.js';

/** The two encodings of OTLP. */
export type Encoding = 'protobuf' | 'json';

export const MEDIA_TYPES: Readonly<Record<Encoding, string>> = {
  protobuf: 'application/x-protobuf',
  json: 'application/json',
};

const TYPE_URL = 'type.googleapis.com/google.rpc.';

/** The contents of a `google.rpc.Status`. */
export interface Failure {
  /** `google.rpc.Code`. */
  readonly code: number;
  readonly message: string;
  /** Sent as `RetryInfo`: delay in whole seconds before a retry. */
  readonly retryAfterSeconds?: number | undefined;
  /** Sent as `BadRequest`: the errors of the request with their places. */
  readonly violations?: readonly { readonly field: string; readonly message: string }[] | undefined;
}

/** A failure as `google.rpc.Status`. */
export function encodeStatus(failure: Failure, encoding: Encoding): string | Uint8Array {
  return encoding === 'json' ? statusJson(failure) : statusBytes(failure);
}

/** In protobuf, also for `grpc-status-details-bin`. */
export function statusBytes({ code, message, retryAfterSeconds, violations = [] }: Failure): Uint8Array {
  const details = [];
  if (retryAfterSeconds !== undefined) {
    const value = retryInfoType.encode({ retryDelay: { seconds: retryAfterSeconds } }).finish();
    details.push({ type_url: `${TYPE_URL}RetryInfo`, value });
  }
  if (violations.length > 0) {
    const fieldViolations = violations.map(({ field, message: description }) => ({ field, description }));
    details.push({
      type_url: `${TYPE_URL}BadRequest`,
      value: badRequestType.encode({ fieldViolations }).finish(),
    });
  }
  return statusType.encode({ code, message, details }).finish();
}

function statusJson({ code, message, retryAfterSeconds, violations = [] }: Failure): string {
  const details = [];
  if (retryAfterSeconds !== undefined)
    details.push({ '@type': `${TYPE_URL}RetryInfo`, retryDelay: `${retryAfterSeconds}s` });
  if (violations.length > 0)
    details.push({
      '@type': `${TYPE_URL}BadRequest`,
      fieldViolations: violations.map(({ field, message: description }) => ({ field, description })),
    });
  return JSON.stringify({ code, message, ...(details.length > 0 && { details }) });
}
