import type { JsonObject, JsonValue } from '../signal/attributes.js';
import { formatTime } from '../signal/time.js';
import { MICROS_PER_MS } from '../signal/time-units.js';
import { View } from './scope/view.js';

/**
 * A value of CEL as JSON: whole numbers as numbers, times as RFC 3339, records with those of their fields that have a value.
 *
 * @throws Error for what JSON does not have
 */
export function jsonOf(value: unknown): JsonValue {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return Number.isFinite(value) ? value : String(value);
    case 'bigint':
      return Number.isSafeInteger(Number(value)) ? Number(value) : value;
    default:
      return ofObject(value);
  }
}

function ofObject(value: unknown): JsonValue {
  if (value === null) return null;
  if (value instanceof Date) return formatTime(value.getTime() * MICROS_PER_MS);
  if (value instanceof View) return fromEntries(value.entries());
  if (Array.isArray(value)) return value.map(jsonOf);
  if (value instanceof Map) return fromEntries([...value.entries()]);
  if (typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype)
    return fromEntries(Object.entries(value));
  throw new Error('This is no value that JSON has.');
}

function fromEntries(entries: readonly (readonly [unknown, unknown])[]): JsonObject {
  return Object.fromEntries(entries.map(([key, value]) => [String(key), jsonOf(value)]));
}
