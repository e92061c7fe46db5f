import type { MetricType } from '../../signal/metric.js';
import type { Micros } from '../../signal/time.js';

export const METRIC_AGGREGATIONS = ['avg', 'sum', 'min', 'max', 'last', 'rate', 'p50', 'p95', 'p99'] as const;
export type MetricAggregation = (typeof METRIC_AGGREGATIONS)[number];

/** Most series of an answer. */
export const MOST_METRIC_SERIES = 100;
/** Most labels that are listed, and most values of each. */
export const MOST_LABEL_KEYS = 64;
export const MOST_LABEL_VALUES = 200;

const HISTOGRAMS: readonly MetricType[] = ['histogram', 'exponential_histogram'];
type Quantile = 'p50' | 'p95' | 'p99';

/** Whether it is a percentile, which only histograms have. */
export function isQuantile(agg: MetricAggregation): agg is Quantile {
  return agg === 'p50' || agg === 'p95' || agg === 'p99';
}

/** Whether metrics of a type have such a value: gauges count nothing, and only histograms have percentiles. */
export function suits(type: MetricType, agg: MetricAggregation): boolean {
  if (isQuantile(agg)) return HISTOGRAMS.includes(type);
  return agg !== 'rate' || type !== 'gauge';
}

/** What is asked of a metric. */
export interface MetricSeriesRequest {
  /** Pairs that a point's labels must all have. */
  readonly labels: Readonly<Record<string, string>>;
  /** Included. */
  readonly start_time: Micros;
  /** Not included. */
  readonly end_time: Micros;
  /** Width of a step; steps begin at multiples of it since 1970. */
  readonly step: Micros;
  readonly agg: MetricAggregation;
  /** Series with the same values of these labels are one; undefined: each is shown by itself. */
  readonly group_by?: readonly string[];
}

export interface MetricSeries {
  /** Those that all of it has in common: of `group_by`, or all of them. */
  readonly labels: Readonly<Record<string, string>>;
  /** Step by step: when the step begins in milliseconds, and its value. Steps of which nothing is known are left out. */
  readonly points: readonly (readonly [ms: number, value: number])[];
}

/** No series where {@link suits} says no. */
export interface FoundMetricSeries {
  readonly type: MetricType;
  readonly unit: string;
  /** By labels. */
  readonly series: readonly MetricSeries[];
  /** There is more than is read for one answer: some series or the oldest points are left out. */
  readonly is_truncated: boolean;
}

/** A label of a metric. */
export interface MetricLabel {
  readonly key: string;
  /** In ascending order. */
  readonly values: readonly string[];
  /** There are more. */
  readonly is_truncated: boolean;
}
