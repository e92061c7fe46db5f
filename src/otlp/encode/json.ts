import type { TelemetrySignal } from '../../signal/batch.js';
import { int64ToBigInt } from '../wire/int64.js';
import type { Int64, OtlpRequests } from '../wire/requests.js';

/** 64-bit fields other than times; OTLP/JSON writes them as strings. */
const INT64_FIELDS: ReadonlySet<string> = new Set(['intValue', 'asInt', 'count', 'zeroCount']);
const ID_FIELDS: ReadonlySet<string> = new Set(['traceId', 'spanId', 'parentSpanId']);

/** A request as one line of OTLP/JSON: 64-bit integers, NaN and the infinities as strings, ids as hex, other bytes as base64. */
export function encodeJson(request: OtlpRequests[TelemetrySignal]): string {
  return JSON.stringify(plain(request));
}

/**
 * A message, or a part of one, as plain JSON values: the input of {@link encodeJson}.
 *
 * @param field name of the field that holds the value, for items that of the list
 */
export function plain(value: unknown, field = ''): unknown {
  if (typeof value === 'number') {
    if (INT64_FIELDS.has(field) || field === 'bucketCounts') return value.toString();
    return Number.isFinite(value) ? value : value.toString();
  }
  // Missing fields are not written.
  if (value === null) return undefined;
  if (typeof value !== 'object') return value;
  if (value instanceof Uint8Array)
    return Buffer.from(value).toString(ID_FIELDS.has(field) ? 'hex' : 'base64');
  if (isInt64(value)) return int64ToBigInt(value).toString();
  if (Array.isArray(value)) return value.map((item) => plain(item, field));
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, plain(child, key)]));
}

/** No message of OTLP has a field `low`. */
function isInt64(value: object): value is Exclude<Int64, number | string> {
  return 'low' in value && 'high' in value;
}
