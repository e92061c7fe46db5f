import type { JsonObject, JsonValue } from '../../signal/attributes.js';
import type { MetricPoint } from '../../signal/metric.js';
import { jsonToInt64, microsToNanos } from './int64.js';
import { doubleOf, numberOf, objectOf, textOf, toKeyValues } from './value.js';
import { spanBytes, traceBytes } from '../wire/ids.js';
import type {
  Buckets,
  Exemplar,
  ExponentialHistogramPoint,
  HistogramPoint,
  NumberPoint,
  PointBase,
  SummaryPoint,
} from '../wire/requests.js';

/** A point of any type; only the fields of its type are set. */
export type EncodedPoint = NumberPoint & HistogramPoint & ExponentialHistogramPoint & SummaryPoint;

export function encodePoint(point: MetricPoint): EncodedPoint {
  const base: PointBase & { readonly exemplars?: readonly Exemplar[] } = {
    attributes: toKeyValues(point.attributes),
    timeUnixNano: microsToNanos(point.timestamp),
    ...(point.start_time === null ? {} : { startTimeUnixNano: microsToNanos(point.start_time) }),
    flags: point.flags,
    ...(point.exemplars === null ? {} : { exemplars: point.exemplars.map(encodeExemplar) }),
  };
  const { distribution } = point;
  switch (point.stream.type) {
    case 'gauge':
    case 'sum':
      return point.value === null ? base : { ...base, asDouble: point.value };
    case 'histogram':
      return distribution === null ? base : { ...base, ...encodeHistogram(distribution) };
    case 'exponential_histogram':
      return distribution === null ? base : { ...base, ...encodeExponential(distribution) };
    case 'summary':
      return distribution === null ? base : { ...base, ...encodeSummary(distribution) };
  }
}

function encodeHistogram(fields: JsonObject): HistogramPoint {
  return {
    ...encodeTotals(fields),
    bucketCounts: listOf(fields['bucket_counts']).map(jsonToInt64),
    explicitBounds: listOf(fields['explicit_bounds']).map((bound) => doubleOf(bound) ?? 0),
  };
}

function encodeExponential(fields: JsonObject): ExponentialHistogramPoint {
  return {
    ...encodeTotals(fields),
    scale: numberOf(fields['scale']) ?? 0,
    zeroCount: jsonToInt64(fields['zero_count']),
    zeroThreshold: doubleOf(fields['zero_threshold']) ?? 0,
    positive: encodeBuckets(fields['positive']),
    negative: encodeBuckets(fields['negative']),
  };
}

function encodeSummary(fields: JsonObject): SummaryPoint {
  return {
    count: jsonToInt64(fields['count']),
    sum: doubleOf(fields['sum']) ?? 0,
    quantileValues: listOf(fields['quantiles']).map((quantile) => ({
      quantile: doubleOf(objectOf(quantile)?.['quantile']) ?? 0,
      value: doubleOf(objectOf(quantile)?.['value']) ?? 0,
    })),
  };
}

/** Null fields are left out, because zero has another meaning. */
function encodeTotals(fields: JsonObject): Pick<HistogramPoint, 'count' | 'sum' | 'min' | 'max'> {
  const [sum, min, max] = [doubleOf(fields['sum']), doubleOf(fields['min']), doubleOf(fields['max'])];
  return {
    count: jsonToInt64(fields['count']),
    ...(sum === undefined ? {} : { sum }),
    ...(min === undefined ? {} : { min }),
    ...(max === undefined ? {} : { max }),
  };
}

function encodeBuckets(value: JsonValue | undefined): Buckets {
  const buckets = objectOf(value);
  return {
    offset: numberOf(buckets?.['offset']) ?? 0,
    bucketCounts: listOf(buckets?.['bucket_counts']).map(jsonToInt64),
  };
}

function encodeExemplar(exemplar: JsonObject): Exemplar {
  const timestamp = numberOf(exemplar['timestamp']);
  const value = doubleOf(exemplar['value']);
  const [traceId, spanId] = [textOf(exemplar['trace_id']), textOf(exemplar['span_id'])];
  return {
    ...(timestamp === undefined ? {} : { timeUnixNano: microsToNanos(timestamp) }),
    ...(value === undefined ? {} : { asDouble: value }),
    ...(traceId === undefined ? {} : { traceId: traceBytes(traceId) }),
    ...(spanId === undefined ? {} : { spanId: spanBytes(spanId) }),
    filteredAttributes: toKeyValues(objectOf(exemplar['filtered_attributes']) ?? {}),
  };
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}
