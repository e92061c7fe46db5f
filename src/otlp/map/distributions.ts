import type { JsonObject } from '../../signal/attributes.js';
import { doubleToJson } from './any-value.js';
import { int64ToJson, int64ToNumber } from '../wire/int64.js';
import type {
  Buckets,
  ExponentialHistogramPoint,
  HistogramPoint,
  Int64,
  SummaryPoint,
} from '../wire/requests.js';

/** The result of one point of a distribution: its mean and its own fields, or an error. */
export type Distribution =
  | { readonly mean: number | null; readonly fields: JsonObject }
  | { readonly field: string; readonly problem: string };

/**
 * A histogram's fields under the names of the API. There are either no boundaries and counts, or ascending boundaries and one
 * more count.
 */
export function histogram(point: HistogramPoint): Distribution {
  const bounds = point.explicitBounds ?? [];
  const counts = point.bucketCounts ?? [];
  const hasNone = bounds.length === 0 && counts.length === 0;
  if (!hasNone && counts.length !== bounds.length + 1) {
    return {
      field: 'bucketCounts',
      problem: `must be ${bounds.length + 1} for ${bounds.length} explicitBounds, and there are ${counts.length}`,
    };
  }
  if (!ascends(bounds)) return { field: 'explicitBounds', problem: 'must ascend' };
  return {
    mean: mean(point.count, point.sum),
    fields: {
      ...totals(point),
      bucket_counts: counts.map(int64ToJson),
      explicit_bounds: bounds.map(doubleToJson),
    },
  };
}

export function exponentialHistogram(point: ExponentialHistogramPoint): Distribution {
  return {
    mean: mean(point.count, point.sum),
    fields: {
      ...totals(point),
      scale: point.scale ?? 0,
      zero_count: int64ToJson(point.zeroCount ?? 0),
      zero_threshold: doubleToJson(point.zeroThreshold ?? 0),
      positive: buckets(point.positive),
      negative: buckets(point.negative),
    },
  };
}

export function summary(point: SummaryPoint): Distribution {
  const quantiles = (point.quantileValues ?? []).map(({ quantile, value }) => ({
    quantile: doubleToJson(quantile ?? 0),
    value: doubleToJson(value ?? 0),
  }));
  // The sum of a summary is not optional in OTLP: a missing sum is zero.
  const sum = point.sum ?? 0;
  return {
    mean: mean(point.count, sum),
    fields: { count: int64ToJson(point.count ?? 0), sum: doubleToJson(sum), quantiles },
  };
}

function totals(point: HistogramPoint | ExponentialHistogramPoint): JsonObject {
  const { count, sum, min, max } = point;
  return {
    count: int64ToJson(count ?? 0),
    sum: optional(sum),
    min: optional(min),
    max: optional(max),
  };
}

function buckets(sent: Buckets | null | undefined): JsonObject {
  return { offset: sent?.offset ?? 0, bucket_counts: (sent?.bucketCounts ?? []).map(int64ToJson) };
}

function optional(value: number | null | undefined): number | string | null {
  return value === null || value === undefined ? null : doubleToJson(value);
}

/** Null without values or without a sum, which clients leave out if values may be negative. */
function mean(count: Int64 | null | undefined, sum: number | null | undefined): number | null {
  const values = int64ToNumber(count ?? 0);
  return values === 0 || sum === null || sum === undefined ? null : sum / values;
}

/** A list with NaN does not ascend. */
function ascends(bounds: readonly number[]): boolean {
  if (bounds.length === 1) return !Number.isNaN(bounds[0]);
  for (let i = 1; i < bounds.length; i++) if (!((bounds[i] ?? NaN) > (bounds[i - 1] ?? NaN))) return false;
  return true;
}
