import { itemAt } from '../../../signal/checked.js';
import { METRIC_TYPES, type MetricType } from '../../../signal/metric.js';
import { Transfer } from '../../../worker/thread-protocol.js';
import type { Micros } from '../../../signal/time.js';
import {
  type FoundMetricSeries,
  type MetricLabel,
  type MetricSeriesRequest,
  type MetricSummary,
  type PointFilter,
  suits,
} from '../../contracts/metrics.js';
import type { Connection } from '../files/connection.js';
import {
  metricSummary,
  readMorePoints,
  readPoints,
  type PointsCursor,
  type PointsPage,
} from '../read/metrics.js';
import { readDistributionSeries } from '../read/distribution-series.js';
import { readMetricLabels } from '../read/metric-labels.js';
import { readNumberSeries } from '../read/number-series.js';
import type { ReadContext } from '../segments/read-context.js';
import { removeOldPoints } from '../maintenance/retention.js';
import type { Capture } from '../segments/segment.js';
import type { WriteAnswer } from '../write/commit-queue.js';
import type { Writer } from '../write/writer.js';
import type { PointsMessage } from '../write/encode-points.js';
import { IncomingPoints } from '../write/incoming-points.js';
import { MetricStreams } from '../write/metric-streams.js';
import type { NamedBatches } from '../write/named-batches.js';
import type { Origins } from '../write/origins.js';

/** Points as sent by the store thread. */
export interface PointsAnswer {
  readonly name: string;
  readonly type: MetricType;
  readonly unit: string;
  readonly page: PointsPage;
}

/** The metrics in the store: their streams in memory and the reads of their points. Users are tenant numbers here. */
export class StoredMetrics {
  readonly #streams = new MetricStreams();
  readonly #origins: Origins;
  readonly #names: NamedBatches;

  constructor(origins: Origins, names: NamedBatches) {
    this.#origins = origins;
    this.#names = names;
  }

  async load(connection: Connection, capture: Capture): Promise<void> {
    await this.#streams.load(connection, capture);
  }

  /** @returns the positions of refused points, whose tenant has too many metrics */
  async write(
    writer: Writer,
    message: PointsMessage,
  ): Promise<WriteAnswer & { readonly refused: readonly number[] }> {
    const incoming = new IncomingPoints(message, this.#streams, this.#origins);
    const { answer, refused } = await this.#names.once(message.tenant, message.name, incoming, (append) =>
      writer.write({ kind: 'append', append }),
    );
    return { refused, usage: answer?.usage };
  }

  /** Undefined if the tenant has no metric with that name. */
  streamNumber(tenant: number, name: string): number | undefined {
    return this.#streams.find(tenant, name)?.stream_no;
  }

  list({ tenant }: Pick<ReadContext, 'tenant'>): readonly MetricSummary[] {
    return this.#streams.list(tenant).map(metricSummary);
  }

  /** @returns null if the tenant has no metric with that name */
  async query(
    { tenant, short }: ReadContext,
    name: string,
    filter: PointFilter,
  ): Promise<Transfer<PointsAnswer> | null> {
    const stream = this.#streams.find(tenant, name);
    if (stream === undefined) return null;
    const page = await short((connection, capture) => readPoints(connection, capture, stream, filter));
    const { type, unit } = stream.facts;
    const found = { name, type: itemAt(METRIC_TYPES, type), unit, page };
    return new Transfer(found, [page.json.buffer]);
  }

  /** A later page of the points of {@link query}. */
  async points(
    { tenant, short }: ReadContext,
    name: string,
    filter: PointFilter,
    cursor: PointsCursor,
  ): Promise<Transfer<PointsPage>> {
    const stream = this.#streams.find(tenant, name);
    if (stream === undefined) return new Transfer({ json: new Uint8Array(0), next: null }, []);
    const page = await short((connection, capture) =>
      readMorePoints(connection, capture, stream, filter, cursor),
    );
    return new Transfer(page, [page.json.buffer]);
  }

  /** @returns null if the tenant has no metric with that name */
  async series(
    { tenant, long }: ReadContext,
    name: string,
    request: MetricSeriesRequest,
  ): Promise<FoundMetricSeries | null> {
    const stream = this.#streams.find(tenant, name);
    if (stream === undefined) return null;
    const { type: code, unit } = stream.facts;
    const type = itemAt(METRIC_TYPES, code);
    if (!suits(type, request.agg)) return { type, unit, series: [], is_truncated: false };
    const read = type === 'gauge' || type === 'sum' ? readNumberSeries : readDistributionSeries;
    const found = await long((connection, capture) => read(connection, capture, stream, request));
    return { type, unit, ...found };
  }

  /** @returns null if the tenant has no metric with that name */
  async labels(
    { tenant, long }: ReadContext,
    name: string,
    since: Micros,
  ): Promise<readonly MetricLabel[] | null> {
    const stream = this.#streams.find(tenant, name);
    if (stream === undefined) return null;
    return await long((connection, capture) => readMetricLabels(connection, capture, stream, since));
  }

  /** Removes the points before a time from the cold file. @returns how many there were */
  async removeBefore(connection: Connection, firstKept: number): Promise<number> {
    const removed = await removeOldPoints(connection, firstKept);
    for (const [streamNo, points] of removed) this.#streams.count(streamNo, -points);
    return [...removed.values()].reduce((sum, points) => sum + points, 0);
  }
}
