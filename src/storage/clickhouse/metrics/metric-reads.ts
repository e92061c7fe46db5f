import type { JsonObject } from '../../../signal/attributes.js';
import { itemAt } from '../../../signal/checked.js';
import { parseJson } from '../../../signal/json.js';
import { TEMPORALITIES } from '../../../signal/metric.js';
import type { Micros } from '../../../signal/time.js';
import { serializeLabels, labelLine } from '../../shared/labels.js';
import {
  type FoundMetricSeries,
  type MetricLabel,
  type MetricPoints,
  type Metrics,
  type MetricSeries,
  type MetricSeriesRequest,
  type MetricSummary,
  type PointFilter,
  type StoredPoint,
  suits,
} from '../../contracts/metrics.js';
import { labelsIn, MOST_LABEL_SETS } from '../../shared/metric-steps/label-lists.js';
import { finiteOrNull, shownDistribution } from '../../shared/metric-steps/stored-distribution.js';
import { numberOf } from '../../shared/summaries-of-rows.js';
import type { Row } from '../client/connection.js';
import type { StoreHandle } from '../client/store-handle.js';
import { readMetricSummaries } from './metric-facts.js';
import {
  DistributionSteps,
  MOST_DISTRIBUTION_CHARACTERS,
  MOST_DISTRIBUTIONS,
} from '../../shared/metric-steps/distribution-steps.js';
import type { Reads } from '../client/reads.js';
import { MOST_NUMBER_ROWS, MOST_NUMBERS, NumberSteps } from '../../shared/metric-steps/number-steps.js';
import { stepsOf, neededFrom } from '../../shared/metric-steps/series-groups.js';
import { quoted } from '../client/literals.js';

/** A requested series of a metric. */
interface WantedSeries {
  readonly tenant: number;
  readonly name: string;
  readonly request: MetricSeriesRequest;
  /** Maximum of matching points to read, newest first; by default the limit of a result. */
  readonly mostPoints?: number;
  readonly abort: AbortSignal | undefined;
}

interface ReadSeries {
  readonly series: readonly MetricSeries[];
  readonly is_truncated: boolean;
}

/** The condition for the points that a series needs. */
function pointsWanted({ tenant, name, request }: WantedSeries): string {
  const { labels, end_time } = request;
  return pointCondition(tenant, name, { labels, start_time: neededFrom(request), end_time: end_time - 1 });
}

/** The source of a point: points with the same labels and origin have the same source. */
const SOURCE = 'cityHash64(origin) AS source';

const DELTA = TEMPORALITIES.indexOf('delta');

/** Gauges and sums by step. SQL aggregates the points by labels and source. */
async function readNumberSeries(reads: Reads, wanted: WantedSeries): Promise<ReadSeries> {
  const { request, mostPoints = MOST_NUMBERS, abort } = wanted;
  const points = `points WHERE ${pointsWanted(wanted)} AND isFinite(value)`;
  const [counted] = await reads.rows(`SELECT count() AS points FROM ${points}`, abort);
  const isCut = Number(counted?.points) > mostPoints;
  const newest = isCut ? ` ORDER BY timestamp DESC, labels LIMIT ${String(mostPoints)}` : '';
  const shown = `(SELECT labels, timestamp AS moment, start_time AS began, ifNull(temporality = ${String(DELTA)}, false) AS is_delta,
    ifNull(is_monotonic, false) AS is_growing, value, arrived, place, ${SOURCE} FROM ${points}${newest})`;
  const { first, width } = stepsOf(request);
  const sql =
    request.agg === 'rate' ? increases(shown, first, width) : stats(shown, first, width, request.start_time);
  const rows = await reads.rows(`${sql} LIMIT ${String(MOST_NUMBER_ROWS + 1)}`, abort);
  const found = new NumberSteps(request);
  for (const row of rows.slice(0, MOST_NUMBER_ROWS)) found.add(row);
  return found.result(isCut || rows.length > MOST_NUMBER_ROWS);
}

/** Stats of each step, by labels, source and temporality. */
function stats(points: string, first: number, width: number, start: number): string {
  return `SELECT labels, intDiv(moment - ${first}, ${width}) AS step, count() AS count, sum(value) AS sum, min(value) AS min, max(value) AS max,
      argMax(value, (moment, arrived, place)) AS last, max(moment) AS last_at, if(is_delta, sum, last) AS total
    FROM ${points} WHERE moment >= ${start} GROUP BY labels, source, is_delta, step ORDER BY labels, step`;
}

/**
 * Increases of sums and their intervals, aggregated within a step. A cumulative sum is compared with the previous point of the same source;
 * after a reset, or without a previous point, its whole value is the increase since its start.
 */
function increases(points: string, first: number, width: number): string {
  const before = (column: string): string => `lagInFrame(toNullable(${column})) OVER w`;
  // An unchanged start is not a reset, even if the previous point has the same time.
  const isReset =
    '((value < before AND is_growing) OR (began IS NOT NULL AND began >= before_at AND (before_began IS NULL OR began <> before_began)))';
  const compared = `SELECT *, ${before('value')} AS before, ${before('moment')} AS before_at, ${before('began')} AS before_began
    FROM ${points} WINDOW w AS (PARTITION BY labels, source, is_delta ORDER BY moment, arrived, place ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)`;
  const grown = `SELECT labels, moment AS until,
      assumeNotNull(multiIf(is_delta, least(ifNull(began, moment), moment), before IS NULL, began,
        ${isReset}, greatest(ifNull(began, before_at), before_at), before_at)) AS since,
      if(is_delta OR before IS NULL OR ${isReset}, value, value - before) AS growth
    FROM (${compared}) WHERE is_delta OR before IS NOT NULL OR began < moment`;
  const placed = `SELECT labels, growth, since AS begun, until AS ended, floor((begun - ${first}) / ${width}) AS first_step,
      floor((greatest(begun, ended - 1) - ${first}) / ${width}) AS last_step, first_step = last_step AS is_within,
      if(is_within, greatest(begun, ended - 1), begun) AS from_at, if(is_within, greatest(begun, ended - 1), ended) AS to_at
    FROM (${grown}) WHERE until >= ${first}`;
  return `SELECT labels, min(from_at) AS since, max(to_at) AS until, sum(growth) AS growth FROM (${placed})
    GROUP BY labels, first_step, last_step, if(is_within, 0, from_at), if(is_within, 0, to_at) ORDER BY labels, since`;
}

const SHOWN = 'timestamp, value, labels, distribution';
const DETAILS = 'start_time, flags, temporality, is_monotonic, exemplars';

/** The contract `Metrics`. */
export class MetricReads implements Metrics {
  readonly #handle: StoreHandle;

  constructor(handle: StoreHandle) {
    this.#handle = handle;
  }

  async list(userId: string, abort?: AbortSignal): Promise<readonly MetricSummary[]> {
    const tenant = await this.#handle.tenantOf(userId);
    return await readMetricSummaries(this.#handle.connection, tenant, { abort });
  }

  async query(
    userId: string,
    name: string,
    filter: PointFilter,
    abort?: AbortSignal,
  ): Promise<MetricPoints | null> {
    const tenant = await this.#handle.tenantOf(userId);
    const metric = await this.#find(tenant, name, abort);
    return (
      metric && {
        name,
        type: metric.type,
        unit: metric.unit,
        points: this.#points(tenant, name, filter, abort),
      }
    );
  }

  async series(
    userId: string,
    name: string,
    request: MetricSeriesRequest,
    abort?: AbortSignal,
  ): Promise<FoundMetricSeries | null> {
    const tenant = await this.#handle.tenantOf(userId);
    const metric = await this.#find(tenant, name, abort);
    if (metric === null) return null;
    const { type, unit } = metric;
    if (!suits(type, request.agg)) return { type, unit, series: [], is_truncated: false };
    const read = type === 'gauge' || type === 'sum' ? readNumberSeries : readDistributionSeries;
    return { type, unit, ...(await read(this.#handle.connection, { tenant, name, request, abort })) };
  }

  async labels(
    userId: string,
    name: string,
    since: Micros,
    abort?: AbortSignal,
  ): Promise<readonly MetricLabel[] | null> {
    const tenant = await this.#handle.tenantOf(userId);
    if ((await this.#find(tenant, name, abort)) === null) return null;
    const rows = await this.#handle.connection.rows(
      `SELECT labels FROM points WHERE ${pointCondition(tenant, name, { start_time: since })} GROUP BY labels ORDER BY labels LIMIT ${String(MOST_LABEL_SETS + 1)}`,
      abort,
    );
    return labelsIn(rows.map(({ labels }) => String(labels)));
  }

  async #find(tenant: number, name: string, abort: AbortSignal | undefined): Promise<MetricSummary | null> {
    const [metric] = await readMetricSummaries(this.#handle.connection, tenant, { name, abort });
    return metric ?? null;
  }

  async *#points(
    tenant: number,
    name: string,
    filter: PointFilter,
    abort: AbortSignal | undefined,
  ): AsyncGenerator<readonly StoredPoint[]> {
    const { limit, details = false } = filter;
    const pages = this.#handle.connection.pages(
      `SELECT ${SHOWN}${details ? `, ${DETAILS}` : ''} FROM points WHERE ${pointCondition(tenant, name, filter)} ORDER BY timestamp DESC, labels, arrived, place LIMIT ${String(limit)}`,
      abort,
    );
    for await (const rows of pages) yield rows.map((row) => storedPoint(row, details));
  }
}

function storedPoint(row: Row, details: boolean): StoredPoint {
  return {
    timestamp: Number(row.timestamp),
    value: finiteOrNull(row.value),
    labels: JSON.parse(serializeLabels(String(row.labels))) as Readonly<Record<string, string>>,
    distribution: typeof row.distribution === 'string' ? shownDistribution(row.distribution) : null,
    ...(details && { details: detailsOf(row) }),
  };
}

function detailsOf(row: Row): NonNullable<StoredPoint['details']> {
  const { temporality, is_monotonic, exemplars } = row;
  return {
    start_time: numberOf(row.start_time),
    flags: Number(row.flags),
    temporality: temporality === null ? null : itemAt(TEMPORALITIES, Number(temporality)),
    is_monotonic: typeof is_monotonic === 'boolean' ? is_monotonic : null,
    exemplars: typeof exemplars === 'string' ? (parseJson(exemplars) as JsonObject[]) : null,
  };
}

/** Histograms and summaries by step. */
async function readDistributionSeries(reads: Reads, wanted: WantedSeries): Promise<ReadSeries> {
  const { request, mostPoints = MOST_DISTRIBUTIONS, abort } = wanted;
  const points = `points WHERE ${pointsWanted(wanted)} AND distribution IS NOT NULL`;
  const newest = 'timestamp DESC, labels, arrived, place';
  const columns = 'labels, timestamp, start_time, temporality, distribution, arrived, place';
  const pages = reads.pages(
    `SELECT labels, toString(source) AS source, timestamp AS at, start_time AS began, temporality, distribution, (SELECT count() FROM ${points}) AS points
     FROM (SELECT *, sum(length(distribution)) OVER (ORDER BY ${newest} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS upto
       FROM (SELECT ${columns}, ${SOURCE} FROM ${points} ORDER BY ${newest} LIMIT ${String(mostPoints)}))
     WHERE upto <= ${String(MOST_DISTRIBUTION_CHARACTERS)} ORDER BY labels, source, at, arrived, place`,
    abort,
  );
  const found = new DistributionSteps(request);
  let [read, all] = [0, 0];
  for await (const rows of pages) {
    for (const row of rows) found.add(row);
    read += rows.length;
    all = Number(rows[0]?.points);
  }
  return found.result(read < all);
}

/** The condition for points of a metric, in SQL. */
function pointCondition(
  tenant: number,
  name: string,
  { labels = {}, start_time, end_time }: Omit<PointFilter, 'limit' | 'details'>,
): string {
  return [
    `tenant = ${String(tenant)}`,
    `name = ${quoted(name)}`,
    ...(start_time === undefined ? [] : [`timestamp >= ${String(start_time)}`]),
    ...(end_time === undefined ? [] : [`timestamp <= ${String(end_time)}`]),
    ...Object.entries(labels).map(([key, value]) => `position(labels, ${quoted(labelLine(key, value))}) > 0`),
  ].join(' AND ');
}
