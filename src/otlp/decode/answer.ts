import type { TelemetrySignal } from '../../signal/batch.js';
import { REJECTED, type Rejection } from '../wire/export-response.js';
import { int64ToNumber } from '../wire/int64.js';
import { responseTypes, statusType, type ExportResponse, type RpcStatus } from '../wire/messages.js';
import type { Encoding } from '../wire/status.js';

/** The encoding that an answer's `Content-Type` names. */
export function encodingOf(contentType: string | undefined): Encoding | undefined {
  const type = contentType?.split(';')[0]?.trim().toLowerCase();
  if (type === 'application/x-protobuf') return 'protobuf';
  return type === 'application/json' ? 'json' : undefined;
}

/**
 * The rejected items or the warning in a successful response.
 *
 * @returns undefined if everything was accepted, and for bodies that are not an `Export…ServiceResponse`
 */
export function readRejection(
  signal: TelemetrySignal,
  body: Uint8Array,
  encoding?: Encoding,
): Rejection | undefined {
  const answer = read<ExportResponse>(body, encoding, (bytes) => responseTypes[signal].decode(bytes));
  const partial = answer?.partialSuccess;
  if (typeof partial !== 'object' || partial === null) return undefined;
  const count = int64ToNumber(partial[REJECTED[signal]] ?? 0);
  const reason = typeof partial.errorMessage === 'string' ? partial.errorMessage : '';
  return count > 0 || reason !== '' ? { count: Number.isFinite(count) ? count : 0, reason } : undefined;
}

/** The message of a `google.rpc.Status`, or of any text; empty if absent. */
export function readFailure(body: Uint8Array, encoding?: Encoding): string {
  const message = read<RpcStatus>(body, encoding, (bytes) => statusType.decode(bytes))?.message;
  if (typeof message === 'string') return message;
  return encoding === 'protobuf' ? '' : Buffer.from(body).toString('utf8');
}

/** @returns undefined for an unreadable body: the response still has a status */
function read<T extends object>(
  body: Uint8Array,
  encoding: Encoding | undefined,
  decode: (bytes: Uint8Array) => T,
): T | undefined {
  try {
    if (encoding === 'protobuf') return decode(body);
    const value: unknown = JSON.parse(Buffer.from(body).toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as T) : undefined;
  } catch {
    return undefined;
  }
}
