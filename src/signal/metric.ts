import type { JsonObject } from './attributes.js';
import type { Origin } from './origin.js';
import type { Micros } from './time.js';

/** The position is the stored code of each type: append only. */
export const METRIC_TYPES = ['gauge', 'sum', 'histogram', 'exponential_histogram', 'summary'] as const;
export type MetricType = (typeof METRIC_TYPES)[number];

/** The position is the stored code: append only. */
export const TEMPORALITIES = ['delta', 'cumulative'] as const;
export type Temporality = (typeof TEMPORALITIES)[number];

/** Values common to all points of a metric in a request. Records share this object, so it must not be changed. */
export interface MetricStream {
  readonly name: string;
  readonly type: MetricType;
  readonly unit: string;
  readonly description: string;
  /** Null for gauges and summaries. */
  readonly temporality: Temporality | null;
  /** Null except for sums. */
  readonly is_monotonic: boolean | null;
  readonly origin: Origin;
}

/** One data point. */
export interface MetricPoint {
  stream: MetricStream;
  /** Labels for queries: `service_name` and the point's attributes, values as text. */
  labels: Readonly<Record<string, string>>;
  /** The point's attributes with their types, for components that forward the point. */
  attributes: JsonObject;
  timestamp: Micros;
  start_time: Micros | null;
  /** For histograms the mean; null if absent (an empty histogram, a point flagged "no recorded value"). */
  value: number | null;
  /** OTLP `DataPointFlags`. */
  flags: number;
  /**
   * Fields of distributions other than the value, with the names of the API: `count`, `sum`, `min`, `max`, `bucket_counts`,
   * `explicit_bounds`; `scale`, `zero_count`, `zero_threshold`, `positive` and `negative` (`{offset, bucket_counts}`);
   * `quantiles` (`[{quantile, value}]`). Null for gauges and sums.
   */
  distribution: JsonObject | null;
  /** As in OTLP: `timestamp`, `value`, `trace_id`, `span_id` (UUIDs), `filtered_attributes`. */
  exemplars: JsonObject[] | null;
}
