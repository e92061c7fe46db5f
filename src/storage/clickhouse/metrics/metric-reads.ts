import type { JsonObject } from '../../../signal/attributes.js';
import { itemAt } from '../../../signal/checked.js';
import { parseJson } from '../../../signal/json.js';
import { TEMPORALITIES } from '../../../signal/metric.js';
import type { Micros } from '../../../signal/time.js';
import { printLabels } from '../../labels.js';
import {
  suits,
  type FoundMetricSeries,
  type MetricLabel,
  type MetricSeriesRequest,
} from '../../metric-series.js';
import { labelsIn, MOST_LABEL_SETS } from '../../metric-steps/label-lists.js';
import { finiteOrNull, shownDistribution } from '../../metric-steps/stored-distribution.js';
import type { MetricPoints, Metrics, MetricSummary, PointFilter, StoredPoint } from '../../metrics.js';
import { numberOf } from '../../summaries-of-rows.js';
import type { Row } from '../client/connection.js';
import type { Reach } from '../client/reach.js';
import { readDistributionSeries } from './distribution-series.js';
import { readMetricSummaries } from './metric-facts.js';
import { readNumberSeries } from './number-series.js';
import { pointCondition } from './point-condition.js';

const SHOWN = 'timestamp, value, labels, distribution';
const DETAILS = 'start_time, flags, temporality, is_monotonic, exemplars';

/** The contract `Metrics`. */
export class MetricReads implements Metrics {
  readonly #reach: Reach;

  constructor(reach: Reach) {
    this.#reach = reach;
  }

  async list(userId: string, abort?: AbortSignal): Promise<readonly MetricSummary[]> {
    const tenant = await this.#reach.tenantOf(userId);
    return await readMetricSummaries(this.#reach.connection, tenant, { abort });
  }

  async query(
    userId: string,
    name: string,
    filter: PointFilter,
    abort?: AbortSignal,
  ): Promise<MetricPoints | null> {
    const tenant = await this.#reach.tenantOf(userId);
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
    const tenant = await this.#reach.tenantOf(userId);
    const metric = await this.#find(tenant, name, abort);
    if (metric === null) return null;
    const { type, unit } = metric;
    if (!suits(type, request.agg)) return { type, unit, series: [], is_truncated: false };
    const read = type === 'gauge' || type === 'sum' ? readNumberSeries : readDistributionSeries;
    return { type, unit, ...(await read(this.#reach.connection, { tenant, name, request, abort })) };
  }

  async labels(
    userId: string,
    name: string,
    since: Micros,
    abort?: AbortSignal,
  ): Promise<readonly MetricLabel[] | null> {
    const tenant = await this.#reach.tenantOf(userId);
    if ((await this.#find(tenant, name, abort)) === null) return null;
    const rows = await this.#reach.connection.rows(
      `SELECT labels FROM points WHERE ${pointCondition(tenant, name, { start_time: since })} GROUP BY labels ORDER BY labels LIMIT ${String(MOST_LABEL_SETS + 1)}`,
      abort,
    );
    return labelsIn(rows.map(({ labels }) => String(labels)));
  }

  async #find(tenant: number, name: string, abort: AbortSignal | undefined): Promise<MetricSummary | null> {
    const [metric] = await readMetricSummaries(this.#reach.connection, tenant, { name, abort });
    return metric ?? null;
  }

  async *#points(
    tenant: number,
    name: string,
    filter: PointFilter,
    abort: AbortSignal | undefined,
  ): AsyncGenerator<readonly StoredPoint[]> {
    const { limit, details = false } = filter;
    const pages = this.#reach.connection.pages(
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
    labels: JSON.parse(printLabels(String(row.labels))) as Readonly<Record<string, string>>,
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
