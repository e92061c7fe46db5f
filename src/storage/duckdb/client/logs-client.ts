import type { FoundLogs, LogBuckets, LogFacets, LogFilter, LogPage, Logs } from '../../contracts/logs.js';
import type { LogKey } from '../index/log-keys.js';
import { jsonPages } from '../segments/json-pages.js';
import type { StoreReach } from './store-reach.js';

/** The contract `Logs` for the daemon's thread. */
export class LogsClient implements Logs {
  readonly #reach: StoreReach;

  constructor(reach: StoreReach) {
    this.#reach = reach;
  }

  async search(userId: string, filter: LogFilter, page: LogPage, abort?: AbortSignal): Promise<FoundLogs> {
    const { tenant } = await this.#reach.user(userId);
    const { count, slice, next } = await this.#reach.readAs(tenant, 'logs', 'search', [filter, page], abort);
    const items = jsonPages(
      slice,
      ({ rest }) => (rest.length === 0 ? null : rest),
      (keys: readonly LogKey[]) =>
        this.#reach.readAs(tenant, 'logs', 'rest', [keys, page.details ?? false], abort),
    );
    return { count, items, next };
  }

  async facets(
    userId: string,
    filter: Omit<LogFilter, 'start_time' | 'end_time'>,
    buckets: LogBuckets,
    abort?: AbortSignal,
  ): Promise<LogFacets> {
    return await this.#reach.read(userId, 'logs', 'facets', [filter, buckets], abort);
  }

  async findTrace(userId: string, logId: string, abort?: AbortSignal): Promise<string | null> {
    return await this.#reach.read(userId, 'logs', 'findTrace', [logId], abort);
  }
}
