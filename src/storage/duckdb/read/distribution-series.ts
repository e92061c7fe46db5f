import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { MetricSeries, MetricSeriesRequest } from '../../contracts/metrics.js';
import {
  DistributionSteps,
  MOST_DISTRIBUTION_CHARACTERS,
  MOST_DISTRIBUTIONS,
} from '../../shared/metric-steps/distribution-steps.js';
import { POINTS } from '../../schema/tables.js';
import type { Connection } from '../files/connection.js';
import type { Stream } from '../write/metric-streams.js';
import { relation } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';
import { pointsWanted, sourcesOf } from './wanted-points.js';

/** Points that are read in one step of the thread. */
const POINTS_AT_ONCE = 500;

/** Histograms and summaries step by step. */
export async function readDistributionSeries(
  connection: Connection,
  capture: Capture,
  stream: Stream,
  request: MetricSeriesRequest,
  mostPoints = MOST_DISTRIBUTIONS,
): Promise<{ readonly series: readonly MetricSeries[]; readonly is_truncated: boolean }> {
  const { sql, values } = pointsWanted(stream, request);
  const points = relation(capture, POINTS, `${sql} AND distribution IS NOT NULL`);
  const newest = `SELECT *, sum(strlen(distribution)) OVER (ORDER BY timestamp DESC, labels, seq ROWS UNBOUNDED PRECEDING) AS upto, count(*) OVER () AS points
    FROM ${points} ORDER BY timestamp DESC, labels, seq LIMIT ${mostPoints}`;
  const rows = await connection.rows(
    `WITH p AS MATERIALIZED (SELECT * FROM (${newest}) WHERE upto <= ${MOST_DISTRIBUTION_CHARACTERS})
     SELECT labels, coalesce(source, p.origin_no) AS source, epoch_us(timestamp) AS at, epoch_us(start_time) AS began, temporality, distribution, points
     FROM p LEFT JOIN ${sourcesOf(capture, 'p')} USING (origin_no) ORDER BY labels, source, timestamp, seq`,
    values,
  );
  const found = new DistributionSteps(request);
  for (const [place, row] of rows.entries()) {
    if (place % POINTS_AT_ONCE === 0) await yieldToOthers();
    found.add(row);
  }
  return found.result(rows.length < Number(rows[0]?.points ?? 0));
}
