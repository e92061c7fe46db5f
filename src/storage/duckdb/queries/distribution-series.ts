import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { JsonObject } from '../../../signal/attributes.js';
import { TEMPORALITIES } from '../../../signal/metric.js';
import { isQuantile, type MetricSeries, type MetricSeriesRequest } from '../../metric-series.js';
import { POINTS } from '../../tables.js';
import type { Connection, Row } from '../files/connection.js';
import { BucketSums, distributionOf, since, type Distribution } from '../metrics/bucket-sums.js';
import type { Stream } from '../metrics/metric-streams.js';
import { startMs, StepValues, stepOf, type Steps } from '../metrics/step-values.js';
import { relation } from '../rows/relation.js';
import type { Capture } from '../rows/segment.js';
import { pointsWanted, SeriesGroups, sourcesOf, stepsOf } from './series-groups.js';

/** Points that are read for one answer, the newest, and characters of them. */
const MOST_POINTS = 20_000;
const MOST_CHARACTERS = 32 * 1024 * 1024;
/** Points that are read in one step of the thread. */
const POINTS_AT_ONCE = 500;
const SHARES = { p50: 0.5, p95: 0.95, p99: 0.99 } as const;
const DELTA = TEMPORALITIES.indexOf('delta');

/** A series of an answer. */
interface Group {
  readonly values: StepValues;
  readonly buckets: Map<number, BucketSums>;
}

/** The point before of one source. */
interface Before {
  readonly labels: string;
  readonly source: number;
  readonly at: number;
  /** When its counting began; null where nobody said. */
  readonly began: number | null;
  readonly distribution: Distribution;
}

/** Histograms and summaries step by step. */
export async function readDistributionSeries(
  connection: Connection,
  capture: Capture,
  stream: Stream,
  request: MetricSeriesRequest,
  mostPoints = MOST_POINTS,
): Promise<{ readonly series: readonly MetricSeries[]; readonly is_truncated: boolean }> {
  const { sql, values } = pointsWanted(stream, request);
  const points = relation(capture, POINTS, `${sql} AND distribution IS NOT NULL`);
  const newest = `SELECT *, sum(strlen(distribution)) OVER (ORDER BY timestamp DESC, labels, seq ROWS UNBOUNDED PRECEDING) AS upto, count(*) OVER () AS points
    FROM ${points} ORDER BY timestamp DESC, labels, seq LIMIT ${mostPoints}`;
  const rows = await connection.rows(
    `WITH p AS MATERIALIZED (SELECT * FROM (${newest}) WHERE upto <= ${MOST_CHARACTERS})
     SELECT labels, coalesce(source, p.origin_no) AS source, epoch_us(timestamp) AS at, epoch_us(start_time) AS began, temporality, distribution, points
     FROM p LEFT JOIN ${sourcesOf(capture, 'p')} USING (origin_no) ORDER BY labels, source, timestamp, seq`,
    values,
  );
  const steps = stepsOf(request);
  const groups = new SeriesGroups(request, (): Group => ({
    values: new StepValues(steps),
    buckets: new Map(),
  }));
  let before: Before | null = null;
  for (const [place, row] of rows.entries()) {
    if (place % POINTS_AT_ONCE === 0) await yieldToOthers();
    before = addPoint(groups.of(String(row.labels)), row, before, steps, request.start_time);
  }
  const { agg } = request;
  const isCut = rows.length < Number(rows[0]?.points ?? 0);
  return groups.result(
    ({ values: figures, buckets }) =>
      isQuantile(agg) ? quantiles(buckets, SHARES[agg], steps) : figures.points(agg),
    isCut,
  );
}

/** @returns the point, as the one before of the next */
function addPoint(
  { values, buckets }: Group,
  row: Row,
  last: Before | null,
  steps: Steps,
  start: number,
): Before {
  const [at, source, labels] = [Number(row.at), Number(row.source), String(row.labels)];
  const began = row.began === null ? null : Number(row.began);
  const isDelta = row.temporality === DELTA;
  const now = distributionOf(JSON.parse(String(row.distribution)) as JsonObject, !isDelta);
  const before = last?.labels === labels && last.source === source ? last : null;
  // A start that stays the same is no new one, even where the point before came in the same moment.
  const isAnew =
    before === null ||
    now.count < before.distribution.count ||
    (began !== null && began >= before.at && began !== before.began);
  const came = isDelta || isAnew ? now : since(before.distribution, now);
  const from = isDelta || isAnew ? (began ?? (isDelta ? at : null)) : before.at;
  const step = stepOf(steps, at);
  if (from !== null) values.increase({ from: Math.min(from, at), to: at, by: came.count });
  // What was counted before this step, and nobody saw come, says nothing of it.
  const isOfStep = isDelta || before !== null || (began !== null && stepOf(steps, began) === step);
  if (at >= start && isOfStep && came.count > 0) {
    const mean = came.sum === null ? NaN : came.sum / came.count;
    values.add(step, {
      count: came.count,
      sum: came.sum ?? NaN,
      min: came.min ?? came.buckets[0]?.low ?? mean,
      max: came.max ?? came.buckets.at(-1)?.high ?? mean,
      last: mean,
      lastAt: at,
      total: came.sum ?? NaN,
    });
    const sums = buckets.get(step) ?? new BucketSums();
    sums.add(came.buckets);
    buckets.set(step, sums);
  }
  return { labels, source, at, began, distribution: now };
}

function quantiles(
  buckets: ReadonlyMap<number, BucketSums>,
  share: number,
  steps: Steps,
): readonly (readonly [number, number])[] {
  return [...buckets]
    .sort(([a], [b]) => a - b)
    .flatMap(([step, sums]): [number, number][] => {
      const value = step < 0 ? null : sums.quantile(share);
      return value === null ? [] : [[startMs(steps, step), value]];
    });
}
