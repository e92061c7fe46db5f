import { itemAt } from '../../../signal/checked.js';
import type { MetricSummary, PointFilter } from '../../telemetry-store.js';
import { METRIC_TYPES, type MetricType } from '../../../signal/metric.js';
import type { Connection } from '../files/connection.js';
import {
  metricSummary,
  readMorePoints,
  readPoints,
  type PointsCursor,
  type PointsPage,
} from '../queries/metrics.js';
import type { Read } from '../reads/read.js';
import { removeOldPoints } from '../upkeep/retention.js';
import type { Capture } from '../rows/segment.js';
import type { WriteAnswer } from '../commits/commit-queue.js';
import type { Writer } from '../commits/writer.js';
import type { PointsMessage } from '../messages/encode-points.js';
import { IncomingPoints } from '../metrics/incoming-points.js';
import { MetricStreams } from '../metrics/metric-streams.js';
import type { Origins } from '../changes/origins.js';

/** Points as they cross from the store thread. */
export interface PointsAnswer {
  readonly name: string;
  readonly type: MetricType;
  readonly unit: string;
  readonly page: PointsPage;
}

/** The metrics in the store: what memory knows of them, and the way to their points. Users are tenant numbers here. */
export class StoredMetrics {
  readonly #streams = new MetricStreams();
  readonly #origins: Origins;

  constructor(origins: Origins) {
    this.#origins = origins;
  }

  async load(connection: Connection, capture: Capture): Promise<void> {
    await this.#streams.load(connection, capture);
  }

  /** @returns the positions of the points that were refused, as their tenant has too many metrics */
  async write(writer: Writer, message: PointsMessage): Promise<WriteAnswer & { readonly refused: number[] }> {
    const append = new IncomingPoints(message, this.#streams, this.#origins);
    const { usage } = await writer.write({ append });
    return { refused: append.refused, usage };
  }

  /** Undefined where the tenant has no metric of that name. */
  streamNumber(tenant: number, name: string): number | undefined {
    return this.#streams.find(tenant, name)?.stream_no;
  }

  list(tenant: number): MetricSummary[] {
    return this.#streams.list(tenant).map(metricSummary);
  }

  /** @returns null where the tenant has no metric of that name */
  async query(read: Read, tenant: number, name: string, filter: PointFilter): Promise<PointsAnswer | null> {
    const stream = this.#streams.find(tenant, name);
    if (stream === undefined) return null;
    const page = await read((connection, capture) => readPoints(connection, capture, stream, filter));
    const { type, unit } = stream.facts;
    return { name, type: itemAt(METRIC_TYPES, type), unit, page };
  }

  /** A later page of the points of {@link query}. */
  async points(
    read: Read,
    tenant: number,
    name: string,
    filter: PointFilter,
    cursor: PointsCursor,
  ): Promise<PointsPage> {
    const stream = this.#streams.find(tenant, name);
    if (stream === undefined) return { json: new Uint8Array(0), next: null };
    return await read((connection, capture) => readMorePoints(connection, capture, stream, filter, cursor));
  }

  /** Removes the points before a time from the cold file. @returns whether there were any */
  async removeBefore(connection: Connection, firstKept: number): Promise<boolean> {
    const removed = await removeOldPoints(connection, firstKept);
    for (const [streamNo, points] of removed) this.#streams.count(streamNo, -points);
    return removed.size > 0;
  }
}
