import type { MetricSeries, MetricSeriesRequest } from '../../metric-series.js';
import { neededFrom } from '../../metric-steps/series-groups.js';
import { pointCondition } from './point-condition.js';

/** Of which metric a series is wanted, and how. */
export interface WantedSeries {
  readonly tenant: number;
  readonly name: string;
  readonly request: MetricSeriesRequest;
  /** Of all that suit, the newest that are read; absent: as many as an answer is made of. */
  readonly mostPoints?: number;
  readonly abort: AbortSignal | undefined;
}

export interface ReadSeries {
  readonly series: readonly MetricSeries[];
  readonly is_truncated: boolean;
}

/** The condition for the points that a series needs. */
export function pointsWanted({ tenant, name, request }: WantedSeries): string {
  const { labels, end_time } = request;
  return pointCondition(tenant, name, { labels, start_time: neededFrom(request), end_time: end_time - 1 });
}

/** The source that a point came from: what has the same labels and the same origin is one. */
export const SOURCE = 'cityHash64(origin) AS source';
