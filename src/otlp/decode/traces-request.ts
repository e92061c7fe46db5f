import { bigintToInt64 } from '../wire/int64.js';
import { requestTypes } from '../wire/messages.js';
import type { ReadTraces } from '../wire/read-span.js';
import type { TracesRequest } from '../wire/requests.js';
import { decodeTraces } from './traces.js';

/** 64-bit integer fields of a traces request. */
const INT64_FIELDS: ReadonlySet<string> = new Set([
  'intValue',
  'startTimeUnixNano',
  'endTimeUnixNano',
  'timeUnixNano',
]);

/**
 * Converts a request in any other format to the form of a decoded protobuf request, so that the rest of the code handles one form.
 *
 * @throws Error for values that nest deeper than messages may
 */
export function readTraces(request: TracesRequest): ReadTraces {
  return decodeTraces(requestTypes.traces.encode(exact(request) as TracesRequest).finish(), Infinity);
}

/** Replaces invalid integers; as a time it is rejected. */
const NO_INTEGER = 2n ** 64n - 1n;

/** Converts 64-bit integers to a form that the encoder writes without loss, and makes texts valid UTF-8. */
function exact(value: unknown, field = ''): unknown {
  if (INT64_FIELDS.has(field) && (typeof value === 'string' || typeof value === 'number'))
    return bigintToInt64(integerOf(value));
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  if ('low' in value && 'high' in value) return value;
  if (Array.isArray(value)) return value.map((item) => exact(item, field));
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, exact(child, key)]));
}

function integerOf(value: string | number): bigint {
  try {
    return BigInt(value);
  } catch {
    return NO_INTEGER;
  }
}
