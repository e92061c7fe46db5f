import type { JsonObject, JsonValue } from '../../signal/attributes.js';
import { int64ToBigInt, int64ToNumber } from '../wire/int64.js';
import type { AnyValue, Int64, KeyValue } from '../wire/requests.js';

/**
 * An OTLP value as JSON. Bytes become base64, integers beyond 2^53 `bigint`s, NaN and the infinities the texts of OTLP/JSON, and
 * unpaired surrogates U+FFFD. The decoders limit the depth.
 */
export function toJson(value: AnyValue | null | undefined): JsonValue {
  if (value === null || value === undefined) return null;
  if (typeof value.stringValue === 'string') return value.stringValue.toWellFormed();
  if (typeof value.boolValue === 'boolean') return value.boolValue;
  if (value.intValue !== null && value.intValue !== undefined) return exactInteger(value.intValue);
  if (typeof value.doubleValue === 'number') return doubleToJson(value.doubleValue);
  if (value.arrayValue) return (value.arrayValue.values ?? []).map(toJson);
  if (value.kvlistValue) return toJsonObject(value.kvlistValue.values);
  if (value.bytesValue) return Buffer.from(value.bytesValue).toString('base64');
  return null;
}

/** Integers beyond 64 bits are kept as text. */
function exactInteger(value: Int64): number | bigint | string {
  const near = int64ToNumber(value);
  if (Number.isSafeInteger(near)) return near;
  const exact = int64ToBigInt(value);
  return BigInt.asIntN(64, exact) === exact ? exact : exact.toString();
}

/** NaN and the infinities as the texts that OTLP/JSON uses for them. */
export function doubleToJson(value: number): number | string {
  return Number.isFinite(value) ? value : String(value);
}

/** Attributes by key; of a repeated key the last value counts. */
export function toJsonObject(pairs: readonly KeyValue[] | null | undefined): JsonObject {
  const object: JsonObject = {};
  for (const { key, value } of pairs ?? []) setOwn(object, (key ?? '').toWellFormed(), toJson(value));
  return object;
}

/** Sets a key of any name, including `__proto__`. */
export function setOwn<Value>(object: Record<string, Value>, key: string, value: Value): void {
  if (key !== '__proto__') object[key] = value;
  else Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}

/** A deep copy. */
export function copyOf<Value extends JsonValue>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => copyOf(item)) as Value;
  const copy: JsonObject = {};
  for (const [key, child] of Object.entries(value)) setOwn(copy, key, copyOf(child));
  return copy as Value;
}
