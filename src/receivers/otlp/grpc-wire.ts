import type { OutgoingHttpHeaders } from 'node:http2';
import { MS_PER_HOUR, MS_PER_MINUTE, MS_PER_SECOND } from '../../signal/time-units.js';

/** The prefix of each message: whether it is compressed, and its length in four bytes. */
export const PREFIX_BYTES = 5;

const CONTENT_TYPE = /^application\/grpc(?:\+proto)?(?:$|;)/;
const TIMEOUT = /^(\d{1,8})([HMSmun])$/;
const MS_PER_UNIT: Readonly<Record<string, number>> = {
  H: MS_PER_HOUR,
  M: MS_PER_MINUTE,
  S: MS_PER_SECOND,
  m: 1,
  u: 0.001,
  n: 0.000_001,
};

/** The headers of every response. */
export const ANSWER_HEADERS = {
  ':status': 200,
  'content-type': 'application/grpc+proto',
} as const;

export function isGrpc(contentType: string | undefined): boolean {
  return contentType !== undefined && CONTENT_TYPE.test(contentType);
}

/** The client's deadline in whole milliseconds; undefined if the header is missing or invalid. */
export function timeoutMs(header: string | undefined): number | undefined {
  const [, digits, unit = ''] = TIMEOUT.exec(header ?? '') ?? [];
  const perUnit = MS_PER_UNIT[unit];
  return digits === undefined || perUnit === undefined ? undefined : Math.ceil(Number(digits) * perUnit);
}

/** A message with its prefix, not compressed. */
export function frame(message: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(PREFIX_BYTES + message.length);
  framed.writeUInt8(0, 0);
  framed.writeUInt32BE(message.length, 1);
  framed.set(message, PREFIX_BYTES);
  return framed;
}

/** How a call ended. */
export interface CallStatus {
  /** `google.rpc.Code` */
  readonly code: number;
  readonly message: string;
  /** Lower-case names. */
  readonly metadata: Readonly<Record<string, string>>;
  /** A `google.rpc.Status`. */
  readonly details?: Uint8Array;
}

/** The trailers that carry a status. */
export function trailersOf({ code, message, metadata, details }: CallStatus): OutgoingHttpHeaders {
  return {
    'grpc-status': String(code),
    ...(message !== '' && { 'grpc-message': encodeURI(message.toWellFormed()) }),
    // Clients look for error details here, in base64 with optional padding.
    ...(details !== undefined && { 'grpc-status-details-bin': Buffer.from(details).toString('base64') }),
    ...metadata,
  };
}
