import type { JsonValue } from '../../signal/attributes.js';
import { moneyToText } from '../../signal/money.js';
import { formatTime } from '../../signal/time.js';
import type { TraceHeader } from '../../signal/trace.js';
import { TRACE_ATTRIBUTES, type OwnAttribute } from '../map/conventions/jackdaw.js';
import { toAnyValue } from './value.js';
import type { KeyValue } from '../wire/requests.js';
import { serializeJson } from '../../signal/json.js';

/** The fields of a record that have a value, as Jackdaw's own attributes. */
export function ownAttributes<Field extends string>(
  record: Readonly<Record<Field, JsonValue>>,
  table: Readonly<Record<Field, OwnAttribute>>,
): KeyValue[] {
  const attributes: KeyValue[] = [];
  for (const field in table) {
    const value = record[field];
    const { key, as } = table[field];
    if (value !== null) attributes.push({ key, value: toAnyValue(write(value, as)) });
  }
  return attributes;
}

/** The fields of a declared header. For a header derived from spans only the sample rate, because readers can derive the rest. */
export function headerAttributes(header: TraceHeader): KeyValue[] {
  if (!header.follows_spans) return ownAttributes(header, TRACE_ATTRIBUTES);
  const { sample_rate } = header;
  return ownAttributes({ sample_rate }, { sample_rate: TRACE_ATTRIBUTES.sample_rate });
}

function write(value: JsonValue, as: OwnAttribute['as']): JsonValue {
  switch (as) {
    case 'money':
      return moneyToText(Number(value));
    case 'time':
      return formatTime(Number(value));
    case 'object':
      return serializeJson(value);
    case 'text':
    case 'number':
    case 'boolean':
      return value;
  }
}
