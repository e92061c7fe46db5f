import type { Micros } from '../../../signal/time.js';
import type {
  FoundMetricSeries,
  MetricLabel,
  MetricPoints,
  Metrics,
  MetricSeriesRequest,
  MetricSummary,
  PointFilter,
} from '../../contracts/metrics.js';
import type { PointsCursor } from '../read/metrics.js';
import { jsonPages } from '../segments/json-pages.js';
import type { StoreReach } from './store-reach.js';

/** The contract `Metrics` for the daemon's thread. */
export class MetricsClient implements Metrics {
  readonly #reach: StoreReach;

  constructor(reach: StoreReach) {
    this.#reach = reach;
  }

  async list(userId: string, abort?: AbortSignal): Promise<readonly MetricSummary[]> {
    return await this.#reach.read(userId, 'metrics', 'list', [], abort);
  }

  async query(
    userId: string,
    name: string,
    filter: PointFilter,
    abort?: AbortSignal,
  ): Promise<MetricPoints | null> {
    const { tenant } = await this.#reach.user(userId);
    const found = await this.#reach.readAs(tenant, 'metrics', 'query', [name, filter], abort);
    if (found === null) return null;
    const { page, ...metric } = found;
    const points = jsonPages(
      page,
      ({ next }) => next,
      (cursor: PointsCursor) =>
        this.#reach.readAs(tenant, 'metrics', 'points', [name, filter, cursor], abort),
    );
    return { ...metric, points };
  }

  async series(
    userId: string,
    name: string,
    request: MetricSeriesRequest,
    abort?: AbortSignal,
  ): Promise<FoundMetricSeries | null> {
    return await this.#reach.read(userId, 'metrics', 'series', [name, request], abort);
  }

  async labels(
    userId: string,
    name: string,
    since: Micros,
    abort?: AbortSignal,
  ): Promise<readonly MetricLabel[] | null> {
    return await this.#reach.read(userId, 'metrics', 'labels', [name, since], abort);
  }
}
