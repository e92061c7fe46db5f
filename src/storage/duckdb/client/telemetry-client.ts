import type { ConsumeContext, Receipt } from '../../../component/consumer.js';
import type { LogsBatch, MetricsBatch, TracesBatch } from '../../../signal/batch.js';
import type { Micros } from '../../../signal/time.js';
import type { ThreadClient } from '../../../worker/thread-client.js';
import type { MapRebuild } from '../../map-rebuild.js';
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
} from '../../telemetry-store.js';
import { ObservationClient } from './observation-client.js';
import { jsonPages } from '../rows/json-pages.js';
import type { LogKey } from '../logs/log-keys.js';
import type { FoundLogsAnswer } from '../engine/stored-logs.js';
import type { PointsAnswer } from '../engine/stored-metrics.js';
import type { LogSlice } from '../queries/logs.js';
import type { PointsCursor, PointsPage } from '../queries/metrics.js';
import type { RunsPart } from '../queries/runs.js';
import type { MapList, MapPage } from '../queries/service-map.js';
import type { SpanCursor, SpanPage } from '../queries/trace.js';
import type { ControlPlane } from '../../control-plane.js';
import type { Known } from './batch-writes.js';
import type { Rebuilt } from '../rebuild/rebuild.js';
import type { NumberedLink } from '../prompts/linked-prompts.js';
import type { ChangeMethod, ReadMethod } from '../engine/store-thread.js';
import type { UserTerms } from './user-terms.js';

/** The {@link TelemetryStore} of the daemon's thread, save its writes: it asks the store thread. */
export abstract class TelemetryClient extends ObservationClient implements TelemetryStore {
  /** The limits that quota processors have announced. */
  readonly #quotas: number[] = [];

  abstract writeTraces(batch: TracesBatch, context: ConsumeContext): Promise<Receipt>;
  abstract writeMetrics(batch: MetricsBatch, context: ConsumeContext): Promise<Receipt>;
  abstract writeLogs(batch: LogsBatch, context: ConsumeContext): Promise<Receipt>;

  /** The store thread. @throws ConsumeError where the store is not open */
  protected abstract thread(): ThreadClient;

  /** What the control plane says of users and prompts, from memory as far as that is allowed. @throws ConsumeError likewise */
  protected abstract known(): Known;

  protected abstract control(): ControlPlane;

  protected override async tenantsOf(userIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return await this.known().users.tenants(userIds);
  }

  async #usersOf(tenants: readonly number[]): Promise<ReadonlyMap<number, string>> {
    return await this.control().accounts.findTenants([...new Set(tenants)]);
  }

  async readTrace(userId: string, traceId: string, abort?: AbortSignal): Promise<StoredTrace | null> {
    const { thread, tenant } = await this.#reach(userId);
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
    userId: string,
    traceId: string,
    change: { readonly success: boolean; readonly outcome?: string },
  ): Promise<{ readonly success: boolean; readonly outcome: string | null } | null> {
    const { users, order } = this.known();
    return await order.send(
      userId,
      () => users.known(userId) ?? users.find(userId),
      async ({ tenant }) => await this.#change('setOutcome', tenant, traceId, change),
    );
  }

  async listRuns(
    userId: string,
    filter: RunFilter,
    page: { readonly offset: number; readonly limit: number },
    abort?: AbortSignal,
  ): Promise<FoundRuns> {
    const { items, count, rest } = await this.#read<RunsPart & { readonly count: number }>(
      'listRuns',
      userId,
      [filter, page],
      abort,
    );
    if (rest.length === 0) return { items, count };
    return { items, count, rest: { runs: rest.length, pages: this.#runPages(userId, rest, abort) } };
  }

  async listAgents(userId: string, abort?: AbortSignal): Promise<readonly AgentSummary[]> {
    return await this.#read('listAgents', userId, [], abort);
  }

  async findAgents(
    userId: string,
    filter: AgentFilter,
    page: { readonly offset: number; readonly limit: number },
    abort?: AbortSignal,
  ): Promise<{ readonly items: readonly AgentSummary[]; readonly count: number }> {
    return await this.#read('findAgents', userId, [filter, page], abort);
  }

  async readAgent(userId: string, agentId: string, abort?: AbortSignal): Promise<AgentSummary | null> {
    return await this.#read('readAgent', userId, [agentId], abort);
  }

  async agentDays(
    userId: string,
    agentId: string,
    range: { readonly from: Micros; readonly to: Micros },
    abort?: AbortSignal,
  ): Promise<{ readonly name: string; readonly days: readonly AgentDay[] } | null> {
    return await this.#read('agentDays', userId, [agentId, range], abort);
  }

  async compareAgents(
    userId: string,
    agentIds: readonly string[],
    abort?: AbortSignal,
  ): Promise<readonly AgentComparison[] | null> {
    return await this.#read('compareAgents', userId, [agentIds], abort);
  }

  async listModels(
    userId: string,
    filter: ModelFilter,
    page: { readonly offset: number; readonly limit: number },
    abort?: AbortSignal,
  ): Promise<{ readonly items: readonly ModelUsage[]; readonly count: number }> {
    return await this.#read('listModels', userId, [filter, page], abort);
  }

  async listMetrics(userId: string): Promise<readonly MetricSummary[]> {
    return await this.#read('listMetrics', userId, [], undefined);
  }

  async queryMetric(
    userId: string,
    name: string,
    filter: PointFilter,
    abort?: AbortSignal,
  ): Promise<MetricPoints | null> {
    const { thread, tenant } = await this.#reach(userId);
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
    userId: string,
    filter: LogFilter,
    page: LogPage,
    abort?: AbortSignal,
  ): Promise<FoundLogs> {
    const { thread, tenant } = await this.#reach(userId);
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

  async readLogTrace(userId: string, logId: string, abort?: AbortSignal): Promise<string | null> {
    return await this.#read('readLogTrace', userId, [logId], abort);
  }

  async serviceMap(userId: string, since: Micros | null, abort?: AbortSignal): Promise<StoredMap> {
    const { thread, tenant } = await this.#reach(userId);
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

  async linkPrompt(userId: string, link: PromptLink, now: Micros): Promise<boolean> {
    const { prompt_name: name, prompt_version: version, trace_id, span_id } = link;
    const { users, prompts, order } = this.known();
    const asked = [{ name, version }];
    return await order.send(
      userId,
      async () =>
        await Promise.all([
          users.known(userId) ?? users.find(userId),
          prompts.known(userId, asked) ?? prompts.find(userId, asked),
        ]),
      async ([{ tenant }, [promptNo = null]]) => {
        if (promptNo === null) return false;
        await this.#change('linkPrompt', tenant, { promptNo, trace_id, span_id } satisfies NumberedLink, now);
        return true;
      },
    );
  }

  async comparePrompts(userId: string, name: string): Promise<readonly PromptVersionFigures[] | null> {
    const versions = await this.control().prompts.numbersOf(userId, name);
    if (versions.length === 0) return null;
    return await this.#read('comparePrompts', userId, [versions], undefined);
  }

  async rebuildServiceMap(options: { readonly dryRun: boolean }): Promise<MapRebuild | null> {
    const rebuilt = await this.#change<Rebuilt | null>('rebuildMap', options.dryRun);
    if (rebuilt === null) return null;
    const users = await this.#usersOf(rebuilt.examples.map(({ tenant }) => tenant));
    const examples = rebuilt.examples.map(
      ({ tenant, words }) => `User ${users.get(tenant) ?? String(tenant)}, ${words}`,
    );
    return { ...rebuilt, examples };
  }

  async usage(userId: string, now: Micros): Promise<QuotaUsage> {
    const { monthlyLimit } = await this.#reach(userId);
    const limits = this.#quotas.filter((limit) => limit > 0);
    const common = limits.length === 0 ? 0 : Math.min(...limits);
    return await this.#read('usage', userId, [monthlyLimit ?? common, now], undefined);
  }

  announceQuota(monthlyEvents: number): () => void {
    this.#quotas.push(monthlyEvents);
    return () => {
      const index = this.#quotas.indexOf(monthlyEvents);
      if (index >= 0) this.#quotas.splice(index, 1);
    };
  }

  async *#runPages(
    userId: string,
    ids: readonly string[],
    abort: AbortSignal | undefined,
  ): AsyncGenerator<readonly RunSummary[]> {
    for (let rest = ids; rest.length > 0;) {
      const part = await this.#read<RunsPart>('readRuns', userId, [rest], abort);
      yield part.items;
      rest = part.rest;
    }
  }

  /** The store thread, and what it has to know of a user. @throws Error for a user that there is not */
  async #reach(userId: string): Promise<UserTerms & { readonly thread: ThreadClient }> {
    const thread = this.thread();
    const { users } = this.known();
    return { thread, ...(users.known(userId) ?? (await users.find(userId))) };
  }

  /** Calls a method of `StoreReads`. */
  async #read<T>(
    method: ReadMethod,
    userId: string,
    args: readonly unknown[],
    abort: AbortSignal | undefined,
  ): Promise<T> {
    const { thread, tenant } = await this.#reach(userId);
    return await thread.call<T>('read', [method, tenant, ...args], { abort });
  }

  /** Calls a method of `StoreEngine`. */
  async #change<T>(method: ChangeMethod, ...args: readonly unknown[]): Promise<T> {
    return await this.thread().call<T>('change', [method, ...args]);
  }
}
