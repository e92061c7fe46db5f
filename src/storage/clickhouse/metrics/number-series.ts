import { TEMPORALITIES } from '../../../signal/metric.js';
import { MOST_NUMBER_ROWS, MOST_NUMBERS, NumberSteps } from '../../metric-steps/number-steps.js';
import { stepsOf } from '../../metric-steps/series-groups.js';
import type { Reads } from '../client/reads.js';
import { pointsWanted, SOURCE, type ReadSeries, type WantedSeries } from './wanted-points.js';

const DELTA = TEMPORALITIES.indexOf('delta');

/** Gauges and sums step by step. Points are put together in SQL, by their labels and sources. */
export async function readNumberSeries(reads: Reads, wanted: WantedSeries): Promise<ReadSeries> {
  const { request, mostPoints = MOST_NUMBERS, abort } = wanted;
  const points = `points WHERE ${pointsWanted(wanted)} AND isFinite(value)`;
  const [counted] = await reads.rows(`SELECT count() AS points FROM ${points}`, abort);
  const isCut = Number(counted?.points) > mostPoints;
  const newest = isCut ? ` ORDER BY timestamp DESC, labels LIMIT ${String(mostPoints)}` : '';
  const shown = `(SELECT labels, timestamp AS moment, start_time AS began, ifNull(temporality = ${String(DELTA)}, false) AS is_delta,
    ifNull(is_monotonic, false) AS is_growing, value, arrived, place, ${SOURCE} FROM ${points}${newest})`;
  const { first, width } = stepsOf(request);
  const sql =
    request.agg === 'rate'
      ? increases(shown, first, width)
      : figures(shown, first, width, request.start_time);
  const rows = await reads.rows(`${sql} LIMIT ${String(MOST_NUMBER_ROWS + 1)}`, abort);
  const found = new NumberSteps(request);
  for (const row of rows.slice(0, MOST_NUMBER_ROWS)) found.add(row);
  return found.result(isCut || rows.length > MOST_NUMBER_ROWS);
}

/** What is known of each step: by labels, source, and whether its points are deltas. */
function figures(points: string, first: number, width: number, start: number): string {
  return `SELECT labels, intDiv(moment - ${first}, ${width}) AS step, count() AS count, sum(value) AS sum, min(value) AS min, max(value) AS max,
      argMax(value, (moment, arrived, place)) AS last, max(moment) AS last_at, if(is_delta, sum, last) AS total
    FROM ${points} WHERE moment >= ${start} GROUP BY labels, source, is_delta, step ORDER BY labels, step`;
}

/**
 * What sums grew by, and from when to when; what lies within one step is put together. A cumulative sum is compared with the point before,
 * of the same source; where it has begun anew, or there is none before, it has counted all since its start.
 */
function increases(points: string, first: number, width: number): string {
  const before = (column: string): string => `lagInFrame(toNullable(${column})) OVER w`;
  // A start that stays the same is no new one, even where the point before came in the same moment.
  const isAnew =
    '((value < before AND is_growing) OR (began IS NOT NULL AND began >= before_at AND (before_began IS NULL OR began <> before_began)))';
  const compared = `SELECT *, ${before('value')} AS before, ${before('moment')} AS before_at, ${before('began')} AS before_began
    FROM ${points} WINDOW w AS (PARTITION BY labels, source, is_delta ORDER BY moment, arrived, place ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)`;
  const grown = `SELECT labels, moment AS until,
      assumeNotNull(multiIf(is_delta, least(ifNull(began, moment), moment), before IS NULL, began,
        ${isAnew}, greatest(ifNull(began, before_at), before_at), before_at)) AS since,
      if(is_delta OR before IS NULL OR ${isAnew}, value, value - before) AS growth
    FROM (${compared}) WHERE is_delta OR before IS NOT NULL OR began < moment`;
  const placed = `SELECT labels, growth, since AS begun, until AS ended, floor((begun - ${first}) / ${width}) AS first_step,
      floor((greatest(begun, ended - 1) - ${first}) / ${width}) AS last_step, first_step = last_step AS is_within,
      if(is_within, greatest(begun, ended - 1), begun) AS from_at, if(is_within, greatest(begun, ended - 1), ended) AS to_at
    FROM (${grown}) WHERE until >= ${first}`;
  return `SELECT labels, min(from_at) AS since, max(to_at) AS until, sum(growth) AS growth FROM (${placed})
    GROUP BY labels, first_step, last_step, if(is_within, 0, from_at), if(is_within, 0, to_at) ORDER BY labels, since`;
}
