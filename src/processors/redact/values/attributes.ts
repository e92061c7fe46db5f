import { toJson } from '../../../otlp/map/any-value.js';
import { int64ToBigInt } from '../../../otlp/wire/int64.js';
import type { AnyValue, KeyValue } from '../../../otlp/wire/requests.js';
import type { Redactor } from './redactor.js';

const MOST_LEVELS = 200;

/** OTLP attributes, redacted. @returns the same list if nothing is found */
export function redactAttributes<List extends readonly KeyValue[] | null | undefined>(
  attributes: List,
  redactor: Redactor,
  level = 0,
): List {
  if (!attributes?.length) return attributes;
  const redacted = attributes.map((attribute) => {
    const key = attribute.key ?? '';
    const { isSensitive, before } = redactor.key(key);
    const newKey = isSensitive ? redactor.text(key) : key;
    const underKey = isSensitive ? redactor.underKey(key, () => toJson(attribute.value)) : undefined;
    const value =
      underKey === undefined
        ? redactAny(attribute.value, redactor, before, level + 1)
        : { stringValue: underKey };
    if (newKey === key && value === attribute.value) return attribute;
    return { key: newKey, value };
  });
  const isSame = redacted.every((attribute, index) => attribute === attributes[index]);
  return isSame ? attributes : (redacted as unknown as List);
}

function redactAny(
  value: AnyValue | null | undefined,
  redactor: Redactor,
  before: string,
  level: number,
): AnyValue | null | undefined {
  if (value === null || value === undefined) return value;
  const { stringValue, intValue, doubleValue, arrayValue, kvlistValue, bytesValue } = value;
  if (typeof stringValue === 'string') {
    const text = redactor.text(stringValue, before, level);
    return text === stringValue ? value : { stringValue: text };
  }
  if (intValue !== null && intValue !== undefined)
    return ofNumber(value, int64ToBigInt(intValue), redactor, before);
  if (typeof doubleValue === 'number') return ofNumber(value, doubleValue, redactor, before);
  if (level > MOST_LEVELS) return { stringValue: '' };
  if (arrayValue) {
    const values = arrayValue.values ?? [];
    const redacted = values.map((item) => redactAny(item, redactor, before, level + 1) ?? {});
    return redacted.every((item, index) => item === values[index])
      ? value
      : { arrayValue: { values: redacted } };
  }
  if (kvlistValue) {
    const values = redactAttributes(kvlistValue.values, redactor, level);
    return values === kvlistValue.values ? value : { kvlistValue: { values: values ?? [] } };
  }
  return bytesValue ? ofBytes(value, bytesValue, redactor) : value;
}

function ofNumber(value: AnyValue, number: bigint | number, redactor: Redactor, before: string): AnyValue {
  const redacted = redactor.value(number, before);
  return typeof redacted === 'string' ? { stringValue: redacted } : value;
}

/** Bytes may hold a text. */
function ofBytes(value: AnyValue, bytes: Uint8Array, redactor: Redactor): AnyValue {
  const text = Buffer.from(bytes).toString('utf8');
  const redacted = redactor.text(text);
  return redacted === text ? value : { bytesValue: Buffer.from(redacted) };
}
