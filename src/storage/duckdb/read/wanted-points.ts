import type { MetricSeriesRequest } from '../../contracts/metrics.js';
import { neededFrom } from '../../shared/metric-steps/series-groups.js';
import { ORIGINS } from '../../schema/tables.js';
import type { Parameter } from '../files/plain-rows.js';
import type { Stream } from '../write/metric-streams.js';
import { relation } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';
import { conditions } from './metrics.js';

/** The condition for the points that a request needs. */
export function pointsWanted(
  stream: Stream,
  request: MetricSeriesRequest,
): { readonly sql: string; readonly values: Parameter[] } {
  const { labels, end_time } = request;
  return conditions(stream, { labels, start_time: neededFrom(request), end_time: end_time - 1 });
}

/**
 * Which sources points came from, as a relation of `origin_no` and `source`: one origin may have several numbers.
 *
 * @param points a relation with `origin_no`
 */
export function sourcesOf(capture: Capture, points: string): string {
  return `(SELECT origin_no, min(origin_no) OVER (PARTITION BY origin) AS source
    FROM ${relation(capture, ORIGINS)} WHERE origin_no IN (SELECT origin_no FROM ${points}))`;
}
