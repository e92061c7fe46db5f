import type { ConsumeContext, Receipt } from '../../component/consumer.js';
import type { LogsBatch, MetricsBatch, TracesBatch } from '../../signal/batch.js';
import type { Micros } from '../../signal/time.js';
import type { ThreadClient } from '../../worker/thread-client.js';
import type { MapRebuild } from '../map-rebuild.js';
import type {
  AgentComparison,
  AgentDay,
  AgentFilter,
  AgentSummary,
  FoundLogs,
  FoundRuns,
  LogFilter,
  LogPage,
  MetricPoints,
  MetricSummary,
  ModelFilter,
  ModelUsage,
  PointFilter,
  PromptLink,
  PromptVersionFigures,
  RunFilter,
  RunSummary,
  StoredMap,
  StoredTrace,
  TelemetryStore,
  QuotaUsage,
} from '../telemetry-store.js';
import { ObservationClient } from './alerts/observation-client.js';
import { jsonPages } from './json-pages.js';
import type { LogKey } from './logs/log-keys.js';
import type { FoundLogsAnswer } from './logs/stored-logs.js';
import type { PointsAnswer } from './metrics/stored-metrics.js';
import type { LogSlice } from './queries/logs.js';
import type { PointsCursor, PointsPage } from './queries/metrics.js';
import type { RunsPart } from './queries/runs.js';
import type { MapList, MapPage } from './queries/service-map.js';
import type { SpanCursor, SpanPage } from './queries/trace.js';
import type { StoreMethod } from './store-thread.js';

/** The {@link TelemetryStore} of the daemon's thread, save its writes: it asks the store thread. */
export abstract class TelemetryClient extends ObservationClient implements TelemetryStore {
  /** The limits that quota processors have announced. */
  readonly #quotas: number[] = [];

  abstract writeTraces(batch: TracesBatch, context: ConsumeContext): Promise<Receipt>;
  abstract writeMetrics(batch: MetricsBatch, context: ConsumeContext): Promise<Receipt>;
  abstract writeLogs(batch: LogsBatch, context: ConsumeContext): Promise<Receipt>;

  /** Calls a method of `StoreEngine` in the store thread. */
  protected abstract store<T>(method: StoreMethod, ...args: unknown[]): Promise<T>;

  /** The store thread. @throws ConsumeError where the store is not open */
  protected abstract thread(): ThreadClient;

  async readTrace(tenant: string, traceId: string, abort?: AbortSignal): Promise<StoredTrace | null> {
    const thread = this.thread();
    const found = await thread.call<{ trace: Omit<StoredTrace, 'spans'>; page: SpanPage } | null>(
      'readTrace',
      [tenant, traceId],
      { abort },
    );
    if (found === null) return null;
    return {
      ...found.trace,
      spans: jsonPages(
        found.page,
        ({ next }) => next,
        (cursor: SpanCursor) => thread.call<SpanPage>('readSpans', [tenant, cursor], { abort }),
      ),
    };
  }

  async setOutcome(
    tenant: string,
    traceId: string,
    change: { readonly success: boolean; readonly outcome?: string },
  ): Promise<{ readonly success: boolean; readonly outcome: string | null } | null> {
    return await this.store('setOutcome', tenant, traceId, change);
  }

  async listRuns(
    tenant: string,
    filter: RunFilter,
    page: { readonly offset: number; readonly limit: number },
    abort?: AbortSignal,
  ): Promise<FoundRuns> {
    const { items, count, rest } = await this.#read<RunsPart & { readonly count: number }>(
      'listRuns',
      [tenant, filter, page],
      abort,
    );
    if (rest.length === 0) return { items, count };
    return { items, count, rest: { runs: rest.length, pages: this.#runPages(tenant, rest, abort) } };
  }

  async listAgents(tenant: string, abort?: AbortSignal): Promise<readonly AgentSummary[]> {
    return await this.#read('listAgents', [tenant], abort);
  }

  async findAgents(
    tenant: string,
    filter: AgentFilter,
    page: { readonly offset: number; readonly limit: number },
    abort?: AbortSignal,
  ): Promise<{ readonly items: readonly AgentSummary[]; readonly count: number }> {
    return await this.#read('findAgents', [tenant, filter, page], abort);
  }

  async readAgent(tenant: string, agentId: string, abort?: AbortSignal): Promise<AgentSummary | null> {
    return await this.#read('readAgent', [tenant, agentId], abort);
  }

  async agentDays(
    tenant: string,
    agentId: string,
    range: { readonly from: Micros; readonly to: Micros },
    abort?: AbortSignal,
  ): Promise<{ readonly name: string; readonly days: readonly AgentDay[] } | null> {
    return await this.#read('agentDays', [tenant, agentId, range], abort);
  }

  async compareAgents(
    tenant: string,
    agentIds: readonly string[],
    abort?: AbortSignal,
  ): Promise<readonly AgentComparison[] | null> {
    return await this.#read('compareAgents', [tenant, agentIds], abort);
  }

  async listModels(
    tenant: string,
    filter: ModelFilter,
    page: { readonly offset: number; readonly limit: number },
    abort?: AbortSignal,
  ): Promise<{ readonly items: readonly ModelUsage[]; readonly count: number }> {
    return await this.#read('listModels', [tenant, filter, page], abort);
  }

  async listMetrics(tenant: string): Promise<readonly MetricSummary[]> {
    return await this.store('listMetrics', tenant);
  }

  async queryMetric(
    tenant: string,
    name: string,
    filter: PointFilter,
    abort?: AbortSignal,
  ): Promise<MetricPoints | null> {
    const thread = this.thread();
    const found = await thread.call<PointsAnswer | null>('queryMetric', [tenant, name, filter], { abort });
    if (found === null) return null;
    const { page, ...metric } = found;
    const points = jsonPages(
      page,
      ({ next }) => next,
      (cursor: PointsCursor) =>
        thread.call<PointsPage>('readPoints', [tenant, name, filter, cursor], { abort }),
    );
    return { ...metric, points };
  }

  async searchLogs(
    tenant: string,
    filter: LogFilter,
    page: LogPage,
    abort?: AbortSignal,
  ): Promise<FoundLogs> {
    const thread = this.thread();
    const { count, slice } = await thread.call<FoundLogsAnswer>('searchLogs', [tenant, filter, page], {
      abort,
    });
    const items = jsonPages(
      slice,
      ({ rest }) => (rest.length === 0 ? null : rest),
      (keys: readonly LogKey[]) =>
        thread.call<LogSlice>('readLogs', [tenant, keys, page.details ?? false], { abort }),
    );
    return { count, items };
  }

  async readLogTrace(tenant: string, logId: string, abort?: AbortSignal): Promise<string | null> {
    return await this.#read('readLogTrace', [tenant, logId], abort);
  }

  async serviceMap(tenant: string, since: Micros | null, abort?: AbortSignal): Promise<StoredMap> {
    const thread = this.thread();
    const first = await thread.call<Readonly<Record<MapList, MapPage>>>('serviceMap', [tenant, since], {
      abort,
    });
    const pages = (list: MapList): AsyncIterable<Uint8Array> =>
      jsonPages(
        first[list],
        ({ next }) => next,
        (after: readonly string[]) =>
          thread.call<MapPage>('readMap', [tenant, since, list, after], { abort }),
      );
    return { nodes: pages('nodes'), edges: pages('edges') };
  }

  async linkPrompt(tenant: string, link: PromptLink, now: Micros): Promise<boolean> {
    return await this.store('linkPrompt', tenant, link, now);
  }

  async comparePrompts(tenant: string, name: string): Promise<readonly PromptVersionFigures[] | null> {
    return await this.store('comparePrompts', tenant, name);
  }

  async rebuildServiceMap(options: { readonly dryRun: boolean }): Promise<MapRebuild | null> {
    return await this.store('rebuildMap', options.dryRun);
  }

  async usage(tenant: string, now: Micros): Promise<QuotaUsage> {
    const limits = [...this.#quotas].filter((limit) => limit > 0);
    return await this.store('usage', tenant, limits.length === 0 ? 0 : Math.min(...limits), now);
  }

  announceQuota(monthlyEvents: number): () => void {
    this.#quotas.push(monthlyEvents);
    return () => {
      const index = this.#quotas.indexOf(monthlyEvents);
      if (index >= 0) this.#quotas.splice(index, 1);
    };
  }

  async *#runPages(
    tenant: string,
    ids: readonly string[],
    abort: AbortSignal | undefined,
  ): AsyncGenerator<readonly RunSummary[]> {
    for (let rest = ids; rest.length > 0;) {
      const part = await this.#read<RunsPart>('readRuns', [tenant, rest], abort);
      yield part.items;
      rest = part.rest;
    }
  }

  /** Calls a method of `StoreEngine` that takes a signal as its last argument. */
  async #read<T>(method: StoreMethod, args: readonly unknown[], abort: AbortSignal | undefined): Promise<T> {
    return await this.thread().call<T>('store', [method, ...args], { abort });
  }
}
