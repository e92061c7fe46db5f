import type { TelemetrySignal } from '../../signal/batch.js';
import {
  bool,
  bytes,
  double,
  enumeration,
  id,
  int32,
  int64,
  list,
  message,
  text,
  uint32,
  uint64,
} from './json-fields.js';
import type { JsonField } from './json-fields.js';
import type { OtlpRequests } from '../wire/requests.js';

/**
 * Decodes a parsed OTLP/JSON request, which is changed in place: ids from hexadecimal digits, bytes from base64, 64-bit integers
 * from strings or numbers, names in lowerCamelCase; fields with other names are ignored.
 *
 * @param value from `JSON.parse`; integers of more than 15 digits must be strings in it, because numbers have lost digits
 * @throws OtlpDecodeError that names the first invalid place
 */
export function decodeJson<S extends TelemetrySignal>(signal: S, value: unknown): OtlpRequests[S] {
  return REQUESTS[signal](value, 0) as OtlpRequests[S];
}

const SPAN_KIND = enumeration({
  SPAN_KIND_UNSPECIFIED: 0,
  SPAN_KIND_INTERNAL: 1,
  SPAN_KIND_SERVER: 2,
  SPAN_KIND_CLIENT: 3,
  SPAN_KIND_PRODUCER: 4,
  SPAN_KIND_CONSUMER: 5,
});
const STATUS_CODE = enumeration({ STATUS_CODE_UNSET: 0, STATUS_CODE_OK: 1, STATUS_CODE_ERROR: 2 });
const TEMPORALITY = enumeration({
  AGGREGATION_TEMPORALITY_UNSPECIFIED: 0,
  AGGREGATION_TEMPORALITY_DELTA: 1,
  AGGREGATION_TEMPORALITY_CUMULATIVE: 2,
});
/** `SEVERITY_NUMBER_INFO` is 9, `SEVERITY_NUMBER_INFO2` is 10. */
const SEVERITY = enumeration({
  SEVERITY_NUMBER_UNSPECIFIED: 0,
  ...Object.fromEntries(
    ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'].flatMap((name, index) =>
      ['', '2', '3', '4'].map((step, at) => [`SEVERITY_NUMBER_${name}${step}`, index * 4 + at + 1]),
    ),
  ),
});

const anyValue = message(() => ({
  stringValue: text,
  boolValue: bool,
  intValue: int64,
  doubleValue: double,
  arrayValue: message(() => ({ values: list(anyValue) })),
  kvlistValue: message(() => ({ values: keyValues })),
  bytesValue: bytes,
}));
const keyValues = list(message(() => ({ key: text, value: anyValue })));

const resource = message(() => ({ attributes: keyValues, droppedAttributesCount: uint32 }));
const scope = message(() => ({
  name: text,
  version: text,
  attributes: keyValues,
  droppedAttributesCount: uint32,
}));

/** The two levels that every request has around its items. */
function request(names: { resources: string; scopes: string; items: string }, item: JsonField): JsonField {
  const scopes = list(message(() => ({ scope, [names.items]: list(item), schemaUrl: text })));
  const resources = list(message(() => ({ resource, [names.scopes]: scopes, schemaUrl: text })));
  return message(() => ({ [names.resources]: resources }));
}

const span = message(() => ({
  traceId: id,
  spanId: id,
  traceState: text,
  parentSpanId: id,
  flags: uint32,
  name: text,
  kind: SPAN_KIND,
  startTimeUnixNano: uint64,
  endTimeUnixNano: uint64,
  attributes: keyValues,
  droppedAttributesCount: uint32,
  events: list(
    message(() => ({
      timeUnixNano: uint64,
      name: text,
      attributes: keyValues,
      droppedAttributesCount: uint32,
    })),
  ),
  droppedEventsCount: uint32,
  links: list(
    message(() => ({
      traceId: id,
      spanId: id,
      traceState: text,
      attributes: keyValues,
      droppedAttributesCount: uint32,
      flags: uint32,
    })),
  ),
  droppedLinksCount: uint32,
  status: message(() => ({ message: text, code: STATUS_CODE })),
}));

const exemplars = list(
  message(() => ({
    filteredAttributes: keyValues,
    timeUnixNano: uint64,
    asDouble: double,
    asInt: int64,
    spanId: id,
    traceId: id,
  })),
);
/** Fields of points of every kind. */
const point = { attributes: keyValues, startTimeUnixNano: uint64, timeUnixNano: uint64, flags: uint32 };
const numberPoint = message(() => ({ ...point, asDouble: double, asInt: int64, exemplars }));
const histogramPoint = message(() => ({
  ...point,
  count: uint64,
  sum: double,
  bucketCounts: list(uint64),
  explicitBounds: list(double),
  exemplars,
  min: double,
  max: double,
}));
const buckets = message(() => ({ offset: int32, bucketCounts: list(uint64) }));
const exponentialHistogramPoint = message(() => ({
  ...point,
  count: uint64,
  sum: double,
  scale: int32,
  zeroCount: uint64,
  positive: buckets,
  negative: buckets,
  exemplars,
  min: double,
  max: double,
  zeroThreshold: double,
}));
const summaryPoint = message(() => ({
  ...point,
  count: uint64,
  sum: double,
  quantileValues: list(message(() => ({ quantile: double, value: double }))),
}));
const metric = message(() => ({
  name: text,
  description: text,
  unit: text,
  gauge: message(() => ({ dataPoints: list(numberPoint) })),
  sum: message(() => ({
    dataPoints: list(numberPoint),
    aggregationTemporality: TEMPORALITY,
    isMonotonic: bool,
  })),
  histogram: message(() => ({ dataPoints: list(histogramPoint), aggregationTemporality: TEMPORALITY })),
  exponentialHistogram: message(() => ({
    dataPoints: list(exponentialHistogramPoint),
    aggregationTemporality: TEMPORALITY,
  })),
  summary: message(() => ({ dataPoints: list(summaryPoint) })),
  metadata: keyValues,
}));

const logRecord = message(() => ({
  timeUnixNano: uint64,
  observedTimeUnixNano: uint64,
  severityNumber: SEVERITY,
  severityText: text,
  body: anyValue,
  attributes: keyValues,
  droppedAttributesCount: uint32,
  flags: uint32,
  traceId: id,
  spanId: id,
  eventName: text,
}));

const REQUESTS: Readonly<Record<TelemetrySignal, JsonField>> = {
  traces: request({ resources: 'resourceSpans', scopes: 'scopeSpans', items: 'spans' }, span),
  metrics: request({ resources: 'resourceMetrics', scopes: 'scopeMetrics', items: 'metrics' }, metric),
  logs: request({ resources: 'resourceLogs', scopes: 'scopeLogs', items: 'logRecords' }, logRecord),
};
