import { TEMPORALITIES } from '../../../signal/metric.js';
import type { MetricSeries, MetricSeriesRequest } from '../../contracts/metrics.js';
import { MOST_NUMBER_ROWS, MOST_NUMBERS, NumberSteps } from '../../shared/metric-steps/number-steps.js';
import { stepsOf } from '../../shared/metric-steps/series-groups.js';
import { POINTS } from '../../schema/tables.js';
import type { Connection } from '../files/connection.js';
import type { Stream } from '../write/metric-streams.js';
import { relation } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';
import { pointsWanted, sourcesOf } from './wanted-points.js';

const DELTA = TEMPORALITIES.indexOf('delta');

/** Gauges and sums by step. Points are combined in SQL, by their labels and sources. */
export async function readNumberSeries(
  connection: Connection,
  capture: Capture,
  stream: Stream,
  request: MetricSeriesRequest,
  mostPoints = MOST_NUMBERS,
): Promise<{ readonly series: readonly MetricSeries[]; readonly is_truncated: boolean }> {
  const { agg } = request;
  const { sql: wanted, values } = pointsWanted(stream, request);
  const points = relation(capture, POINTS, `${wanted} AND isfinite(value)`);
  const [counted] = await connection.rows(`SELECT count(*) AS points FROM ${points}`, values);
  const isCut = Number(counted?.points) > mostPoints;
  const newest = isCut ? ` ORDER BY timestamp DESC, labels LIMIT ${mostPoints}` : '';
  const shown = `WITH p AS MATERIALIZED (SELECT labels, origin_no, epoch_us(timestamp) AS moment, epoch_us(start_time) AS began,
      coalesce(temporality = ${DELTA}, false) AS is_delta, coalesce(is_monotonic, false) AS is_monotonic, value, seq FROM ${points}${newest}),
    s AS (SELECT p.*, coalesce(source, p.origin_no) AS source FROM p LEFT JOIN ${sourcesOf(capture, 'p')} USING (origin_no))`;
  const { first, width } = stepsOf(request);
  const sql =
    agg === 'rate'
      ? increases(first, width)
      : `, figures AS (SELECT labels, source, is_delta, (moment - ${first}) // ${width} AS step, count(*) AS count, sum(value) AS sum,
          min(value) AS min, max(value) AS max, max({'moment': moment, 'seq': seq, 'value': value}) AS newest
        FROM s WHERE moment >= ${request.start_time} GROUP BY ALL)
       SELECT labels, step, count, sum, min, max, newest.value AS last, newest.moment AS last_at, CASE WHEN is_delta THEN sum ELSE newest.value END AS total
       FROM figures ORDER BY labels, step`;
  const rows = await connection.rows(`${shown} ${sql} LIMIT ${MOST_NUMBER_ROWS + 1}`, values);
  const found = new NumberSteps(request);
  for (const row of rows.slice(0, MOST_NUMBER_ROWS)) found.add(row);
  return found.result(isCut || rows.length > MOST_NUMBER_ROWS);
}

/**
 * The growth of sums with its time range; growth within one step is combined. A cumulative sum is compared with the previous
 * point of the same source; if it was reset or has no previous point, the whole value counts from its start.
 */
function increases(first: number, width: number): string {
  // An unchanged start is not a reset, even if the previous point has the same time.
  const isReset =
    'value < before AND is_monotonic OR coalesce(began >= before_at AND began IS DISTINCT FROM before_began, false)';
  return `, compared AS (SELECT *, lag(value) OVER w AS before, lag(moment) OVER w AS before_at, lag(began) OVER w AS before_began
      FROM s WINDOW w AS (PARTITION BY labels, source, is_delta ORDER BY moment, seq)),
    grown AS (SELECT labels, moment AS until,
        CASE WHEN is_delta THEN coalesce(least(began, moment), moment) WHEN before IS NULL THEN least(began, moment)
          WHEN ${isReset} THEN greatest(coalesce(began, before_at), before_at) ELSE before_at END AS since,
        CASE WHEN is_delta OR before IS NULL OR ${isReset} THEN value ELSE value - before END AS growth
      FROM compared WHERE is_delta OR before IS NOT NULL OR began < moment),
    placed AS (SELECT *, floor((since - ${first}) / ${width}) AS first_step, floor((greatest(since, until - 1) - ${first}) / ${width}) AS last_step
      FROM grown WHERE until >= ${first})
    SELECT labels, min(since) AS since, max(until) AS until, sum(growth) AS growth FROM
      (SELECT labels, growth, CASE WHEN first_step = last_step THEN greatest(since, until - 1) ELSE since END AS since,
         CASE WHEN first_step = last_step THEN greatest(since, until - 1) ELSE until END AS until, first_step, last_step FROM placed)
    GROUP BY labels, first_step, last_step, CASE WHEN first_step = last_step THEN 0 ELSE since END, CASE WHEN first_step = last_step THEN 0 ELSE until END
    ORDER BY labels, since`;
}
