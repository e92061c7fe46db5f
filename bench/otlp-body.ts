import { requestTypes } from '../src/otlp/wire/messages.js';
import type { AnyValue, KeyValue, OtlpRequests } from '../src/otlp/wire/requests.js';
import type { TelemetrySignal } from '../src/signal/batch.js';

/** Attributes in the form of OTLP. Whole numbers are integers. */
export function attributes(values: Readonly<Record<string, string | number | boolean>>): KeyValue[] {
  return Object.entries(values).map(([key, value]) => ({ key, value: anyValue(value) }));
}

function anyValue(value: string | number | boolean): AnyValue {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isSafeInteger(value) ? { intValue: value } : { doubleValue: value };
}

export function encode<S extends TelemetrySignal>(signal: S, request: OtlpRequests[S]): Buffer {
  return Buffer.from(requestTypes[signal].encode(request).finish());
}
