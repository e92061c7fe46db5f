import type { ErrorObject } from 'ajv';
import { shorten } from '../../component/item-problems.js';
import { parseMoney } from '../../signal/money.js';
import { parseAnyTime } from '../../signal/time.js';

/** Length of an invalid value in the response, so that its sender can find it. */
const MAX_VALUE = 60;

const FORMATS: Readonly<Record<string, string>> = {
  uuid: 'must be a UUID',
  'date-time': 'must be an ISO 8601 date-time such as 2026-11-03T08:15:30.250Z',
  decimal: 'must be an amount of US dollars such as "0.001250", less than 1000000',
};

/** A broken rule of the schema, as a pointer and a message. Errors must come from ajv with the option `verbose`. */
export function formatError(error: ErrorObject): { readonly pointer: string; readonly message: string } {
  const pointer = error.instancePath;
  const params = error.params as Readonly<Record<string, unknown>>;
  switch (error.keyword) {
    case 'required':
      return { pointer: `${pointer}/${String(params['missingProperty'])}`, message: 'is required' };
    case 'type':
      return { pointer, message: formatType(params['type'], error.data) };
    case 'enum': {
      const allowed = (params['allowedValues'] as readonly (string | null)[]).filter(
        (value) => value !== null,
      );
      return { pointer, message: `must be one of ${allowed.join(', ')}${not(error.data)}` };
    }
    case 'format': {
      if (isNegativeAmount(params['format'], error.data)) return { pointer, message: 'must not be negative' };
      if (isOutOfBounds(params['format'], error.data))
        return { pointer, message: `must be between July 1684 and June 2255${not(error.data)}` };
      const rule = FORMATS[String(params['format'])] ?? `must have the format ${String(params['format'])}`;
      return { pointer, message: rule + not(error.data) };
    }
    case 'minimum':
      return { pointer, message: 'must not be negative' };
    case 'maximum':
      return { pointer, message: `must not be greater than ${String(params['limit'])}` };
    default:
      return { pointer, message: error.message ?? 'is not valid' };
  }
}

/** `-0` in any notation is also refused, but is not a negative amount. */
function isNegativeAmount(format: unknown, data: unknown): boolean {
  if (format !== 'decimal' || typeof data !== 'string' || !data.startsWith('-')) return false;
  return parseMoney(data.slice(1)) !== undefined && /^[^e]*[1-9]/i.test(data);
}

/** A date-time of a year that cannot be stored, such as Go's zero time. */
function isOutOfBounds(format: unknown, data: unknown): boolean {
  return format === 'date-time' && typeof data === 'string' && parseAnyTime(data) !== undefined;
}

function formatType(types: unknown, data: unknown): string {
  const wanted = (Array.isArray(types) ? types : [types]).filter((type) => type !== 'null').map(nameOfType);
  if (typeof data === 'number') {
    if (!Number.isFinite(data)) return 'is too large for a number';
    if (wanted.includes('a whole number')) return 'must be a whole number';
  }
  // An integer beyond 2^53, which only payloads may contain.
  if (typeof data === 'bigint' && (wanted.includes('a whole number') || wanted.includes('a number'))) {
    if (data < 0n) return 'must not be negative';
    // Only money may also be a text; its bound is much lower.
    return wanted.includes('a string')
      ? 'is too large an amount'
      : `must not be greater than ${Number.MAX_SAFE_INTEGER}`;
  }
  return `must be ${wanted.join(' or ')}, not ${nameOfValue(data)}`;
}

function nameOfType(type: unknown): string {
  switch (type) {
    case 'integer':
      return 'a whole number';
    case 'object':
    case 'array':
      return `an ${type}`;
    default:
      return `a ${String(type)}`;
  }
}

function nameOfValue(data: unknown): string {
  if (data === null) return 'null';
  if (typeof data === 'bigint') return 'a whole number';
  return nameOfType(Array.isArray(data) ? 'array' : typeof data);
}

function not(data: unknown): string {
  return typeof data === 'string' ? `, not ${JSON.stringify(shorten(data, MAX_VALUE))}` : '';
}

/** The part of a message that {@link not} adds. */
const REPEATED = /, not "(?:[^"\\]|\\.)*"/g;

/** A reason without invalid values: the sender may see them, but they are not stored. */
export function withoutValues(reason: string): string {
  return reason.replace(REPEATED, '');
}
