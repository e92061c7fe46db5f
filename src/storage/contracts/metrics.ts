// Metrics with their points, and series of them over time.

import type { MetricPoint, MetricStream, MetricType } from '../../signal/metric.js';
import type { Micros } from '../../signal/time.js';
import type { Pages } from './paging.js';

/** A metric as listed; type, unit and description are the latest received. */
export interface MetricSummary {
  readonly name: string;
  readonly type: MetricType;
  readonly unit: string;
  readonly description: string;
  readonly data_point_count: number;
  /** The latest time of any point so far. */
  readonly last_seen_at: Micros;
}

/** Filter of a metric's points. Absent: no restriction. */
export interface PointFilter {
  /** Pairs that a point's labels must all have. */
  readonly labels?: Readonly<Record<string, string>>;
  /** At or after. */
  readonly start_time?: Micros;
  /** At or before. */
  readonly end_time?: Micros;
  readonly limit: number;
  /** Whether to include start time, flags and exemplars. */
  readonly details?: boolean;
}

/** A point as returned by queries. */
export interface StoredPoint extends Readonly<
  Pick<MetricPoint, 'timestamp' | 'value' | 'labels' | 'distribution'>
> {
  /** Present if requested. */
  readonly details?: Readonly<Pick<MetricPoint, 'start_time' | 'flags' | 'exemplars'>> &
    Pick<MetricStream, 'temporality' | 'is_monotonic'>;
}

/** Points of one metric. */
export interface MetricPoints {
  readonly name: string;
  readonly type: MetricType;
  readonly unit: string;
  /** Newest first. */
  readonly points: Pages<StoredPoint>;
}

/**
 * Metrics of users. A point is queryable as soon as its write is acknowledged; in a multi-node engine the list of metrics and its counts
 * may lag by some seconds. Every method may throw a `ConsumeError` with `storage_unavailable` or `overloaded` (retryable).
 */
export interface Metrics {
  /** By name. A metric without points is not listed. */
  list(userId: string, abort?: AbortSignal): Promise<readonly MetricSummary[]>;
  /** @returns null if the user has no metric of that name */
  query(userId: string, name: string, filter: PointFilter, abort?: AbortSignal): Promise<MetricPoints | null>;
  /** @returns null if the user has no metric of that name */
  series(
    userId: string,
    name: string,
    request: MetricSeriesRequest,
    abort?: AbortSignal,
  ): Promise<FoundMetricSeries | null>;
  /**
   * The labels of the points at or after a time, by key: at most `MOST_LABEL_KEYS`.
   *
   * @returns null if the user has no metric of that name
   */
  labels(
    userId: string,
    name: string,
    since: Micros,
    abort?: AbortSignal,
  ): Promise<readonly MetricLabel[] | null>;
}

export const METRIC_AGGREGATIONS = ['avg', 'sum', 'min', 'max', 'last', 'rate', 'p50', 'p95', 'p99'] as const;
export type MetricAggregation = (typeof METRIC_AGGREGATIONS)[number];

/** Maximum number of series in a result. */
export const MOST_METRIC_SERIES = 100;
/** Maximum number of listed labels, and of values per label. */
export const MOST_LABEL_KEYS = 64;
export const MOST_LABEL_VALUES = 200;

const HISTOGRAMS: readonly MetricType[] = ['histogram', 'exponential_histogram'];
type Quantile = 'p50' | 'p95' | 'p99';

/** Whether it is a percentile, which only histograms have. */
export function isQuantile(agg: MetricAggregation): agg is Quantile {
  return agg === 'p50' || agg === 'p95' || agg === 'p99';
}

/** Whether an aggregation applies to a metric type: gauges have no counts, and only histograms have percentiles. */
export function suits(type: MetricType, agg: MetricAggregation): boolean {
  if (isQuantile(agg)) return HISTOGRAMS.includes(type);
  return agg !== 'rate' || type !== 'gauge';
}

/** Query for the series of a metric. */
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
  /** Series with equal values of these labels are combined; undefined: each series is separate. */
  readonly group_by?: readonly string[];
}

export interface MetricSeries {
  /** Labels common to all of the series: those of `group_by`, or all. */
  readonly labels: Readonly<Record<string, string>>;
  /** By step: its start in milliseconds, and its value. Steps without data are omitted. */
  readonly points: readonly (readonly [ms: number, value: number])[];
}

/** Without series if {@link suits} returns false. */
export interface FoundMetricSeries {
  readonly type: MetricType;
  readonly unit: string;
  /** By labels. */
  readonly series: readonly MetricSeries[];
  /** The result exceeds the read limit: some series or the oldest points are missing. */
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

/** Limit of metrics per user: senders choose the names, and all are held in memory. */
export const MOST_METRICS = 20_000;

/**
 * Limit of characters in names, units and descriptions of one user's metrics: senders choose them, and all are held in memory.
 */
export const MOST_METRIC_CHARACTERS = 16 * 1024 * 1024;

/** Reason for rejecting a point when the user's metric limit is reached. */
export const TOO_MANY_METRICS = `/stream/name: exceeds the limit of ${MOST_METRICS} metrics per user (fewer with very long names and descriptions)`;

export function charactersOfMetric({
  name,
  unit,
  description,
}: Pick<MetricStream, 'name' | 'unit' | 'description'>): number {
  return name.length + unit.length + description.length;
}
