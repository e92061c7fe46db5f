import { bigintToInt64 } from '../wire/int64.js';
import { requestTypes } from '../wire/messages.js';
import type { ReadTraces } from '../wire/read-span.js';
import type { TracesRequest } from '../wire/requests.js';
import { decodeTraces } from './traces.js';

/** Fields of 64 bits of a request of traces. */
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

/** No time that anybody takes. */
const NO_INTEGER = 2n ** 64n - 1n;

/** With integers of 64 bits as the encoder takes them without loss, and texts that UTF-8 can say. */
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
