import type { JsonObject, JsonValue } from '../../signal/attributes.js';
import { serializeJson } from '../../signal/json.js';
import { bigintToInt64 } from '../wire/int64.js';
import { isObject } from '../map/json-text.js';
import type { AnyValue, KeyValue } from '../wire/requests.js';

/** Maximum depth of a value; the rest of the 100 levels of a message is left for the request around it. */
const MAX_DEPTH = 90;

/** JSON as an OTLP value, the inverse of `toJson`. Whole numbers become integers; values nested too deeply become JSON text. */
export function toAnyValue(value: JsonValue | undefined, depth = 0): AnyValue {
  if (value === null || value === undefined) return {};
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'bigint') return bigintToAnyValue(value);
  if (typeof value === 'number') {
    // Minus zero is not an integer.
    const isInteger = Number.isSafeInteger(value) && !Object.is(value, -0);
    return isInteger ? { intValue: value } : { doubleValue: value };
  }
  if (depth > MAX_DEPTH) return { stringValue: serializeJson(value) };
  return Array.isArray(value)
    ? { arrayValue: { values: value.map((item) => toAnyValue(item, depth + 2)) } }
    : { kvlistValue: { values: toKeyValues(value, depth + 3) } };
}

/** Integers beyond 64 bits are sent as text. */
function bigintToAnyValue(value: bigint): AnyValue {
  return BigInt.asIntN(64, value) === value
    ? { intValue: bigintToInt64(value) }
    : { stringValue: value.toString() };
}

/** Attributes as OTLP lists them. */
export function toKeyValues(object: JsonObject, depth = 0): KeyValue[] {
  return Object.keys(object).map((key) => ({ key, value: toAnyValue(object[key], depth) }));
}

/** A map, or undefined for anything else: values from `metadata` may have been changed. */
export function objectOf(value: JsonValue | undefined): JsonObject | undefined {
  return isObject(value) ? value : undefined;
}

export function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function numberOf(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/** A double, which JSON may have to write as text. */
export function doubleOf(value: JsonValue | undefined): number | undefined {
  if (typeof value === 'number') return value;
  const isSpecial = value === 'NaN' || value === 'Infinity' || value === '-Infinity';
  return isSpecial ? Number(value) : undefined;
}
