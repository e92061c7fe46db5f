import type { MetricPoint, MetricStream, MetricType } from '../../signal/metric.js';
import type { Micros } from '../../signal/time.js';
import type { FoundMetricSeries, MetricLabel, MetricSeriesRequest } from './metric-series.js';
import type { Pages } from './paging.js';

/** A metric as the list shows it; type, unit and description are those seen last. */
export interface MetricSummary {
  readonly name: string;
  readonly type: MetricType;
  readonly unit: string;
  readonly description: string;
  readonly data_point_count: number;
  /** The latest time of any point so far. */
  readonly last_seen_at: Micros;
}

/** Which points of a metric a query shows. Absent: no restriction. */
export interface PointFilter {
  /** Pairs that a point's labels must all have. */
  readonly labels?: Readonly<Record<string, string>>;
  /** At or after. */
  readonly start_time?: Micros;
  /** At or before. */
  readonly end_time?: Micros;
  readonly limit: number;
  /** Whether to add what is kept of a point beside what it measured: start time, flags, exemplars. */
  readonly details?: boolean;
}

/** A point as queries show it. */
export interface StoredPoint extends Readonly<
  Pick<MetricPoint, 'timestamp' | 'value' | 'labels' | 'distribution'>
> {
  /** Where they were asked for. */
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
 * The metrics of users. A point that a write has answered for is found at once; the list of metrics and its counts may lag behind by some
 * seconds in an engine of several machines. Every method may throw a `ConsumeError` with `storage_unavailable` or `overloaded` (retryable).
 */
export interface Metrics {
  /** By name. A metric without points is not listed. */
  list(userId: string, abort?: AbortSignal): Promise<readonly MetricSummary[]>;
  /** @returns null where the user has no metric of that name */
  query(userId: string, name: string, filter: PointFilter, abort?: AbortSignal): Promise<MetricPoints | null>;
  /** @returns null where the user has no metric of that name */
  series(
    userId: string,
    name: string,
    request: MetricSeriesRequest,
    abort?: AbortSignal,
  ): Promise<FoundMetricSeries | null>;
  /**
   * The labels of the points at or after a time, by key: at most `MOST_LABEL_KEYS`.
   *
   * @returns null where the user has no metric of that name
   */
  labels(
    userId: string,
    name: string,
    since: Micros,
    abort?: AbortSignal,
  ): Promise<readonly MetricLabel[] | null>;
}
