import { hourOf } from '../../../signal/trace-map.js';
import { monthOf, printMonth, startOfMonth } from '../../month.js';
import type { NumberedVersion } from '../../prompts.js';
import type {
  AgentComparison,
  AgentDay,
  AgentFilter,
  AgentSummary,
  LogFilter,
  LogPage,
  MetricSummary,
  ModelFilter,
  ModelUsage,
  PointFilter,
  PromptVersionFigures,
  QuotaUsage,
  RunFilter,
  StoredTrace,
} from '../../telemetry-store.js';
import type { EngineParts } from './engine-parts.js';
import type { LogKey } from '../logs/log-keys.js';
import type { FoundLogsAnswer } from './stored-logs.js';
import type { PointsAnswer } from './stored-metrics.js';
import type { LogSlice } from '../queries/logs.js';
import type { PointsCursor, PointsPage } from '../queries/metrics.js';
import type { RunsPart } from '../queries/runs.js';
import { readMapPage, type MapList, type MapPage } from '../queries/service-map.js';
import type { SpanCursor, SpanPage } from '../queries/trace.js';
import type { Read } from '../reads/read.js';

type Parts = Pick<EngineParts, 'reads' | 'runs' | 'metrics' | 'logs' | 'prompts' | 'counts'>;

/** What users read of the store, in its thread. Users are tenant numbers here. */
export class StoreReads {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The header and the first page of spans. */
  async readTrace(
    tenant: number,
    traceId: string,
    abort?: AbortSignal,
  ): Promise<{ trace: Omit<StoredTrace, 'spans'>; page: SpanPage } | null> {
    return await this.#parts.runs.trace(...this.#short(tenant, abort), traceId);
  }

  async readSpans(tenant: number, cursor: SpanCursor, abort?: AbortSignal): Promise<SpanPage> {
    return await this.#parts.runs.spans(...this.#short(tenant, abort), cursor);
  }

  async listRuns(
    tenant: number,
    filter: RunFilter,
    page: { readonly offset: number; readonly limit: number },
    abort?: AbortSignal,
  ): Promise<RunsPart & { readonly count: number }> {
    const asked = filter.query === undefined ? this.#short(tenant, abort) : this.#long(tenant, abort);
    return await this.#parts.runs.list(...asked, filter, page);
  }

  async readRuns(tenant: number, ids: readonly string[], abort?: AbortSignal): Promise<RunsPart> {
    return await this.#parts.runs.rest(...this.#short(tenant, abort), ids);
  }

  async listAgents(tenant: number, abort?: AbortSignal): Promise<readonly AgentSummary[]> {
    return await this.#parts.runs.agents(...this.#short(tenant, abort));
  }

  async findAgents(
    tenant: number,
    filter: AgentFilter,
    page: { readonly offset: number; readonly limit: number },
    abort?: AbortSignal,
  ): Promise<{ items: readonly AgentSummary[]; count: number }> {
    return await this.#parts.runs.someAgents(...this.#short(tenant, abort), filter, page);
  }

  async readAgent(tenant: number, agentId: string, abort?: AbortSignal): Promise<AgentSummary | null> {
    return await this.#parts.runs.agent(...this.#short(tenant, abort), agentId);
  }

  async agentDays(
    tenant: number,
    agentId: string,
    range: { readonly from: number; readonly to: number },
    abort?: AbortSignal,
  ): Promise<{ name: string; days: readonly AgentDay[] } | null> {
    return await this.#parts.runs.agentDays(...this.#short(tenant, abort), agentId, range);
  }

  async compareAgents(
    tenant: number,
    agentIds: readonly string[],
    abort?: AbortSignal,
  ): Promise<readonly AgentComparison[] | null> {
    return await this.#parts.runs.compare(...this.#short(tenant, abort), agentIds);
  }

  async listModels(
    tenant: number,
    filter: ModelFilter,
    page: { readonly offset: number; readonly limit: number },
    abort?: AbortSignal,
  ): Promise<{ items: readonly ModelUsage[]; count: number }> {
    return await this.#parts.runs.models(...this.#long(tenant, abort), filter, page);
  }

  listMetrics(tenant: number): readonly MetricSummary[] {
    return this.#parts.metrics.list(tenant);
  }

  async queryMetric(
    tenant: number,
    name: string,
    filter: PointFilter,
    abort?: AbortSignal,
  ): Promise<PointsAnswer | null> {
    return await this.#parts.metrics.query(...this.#short(tenant, abort), name, filter);
  }

  async readPoints(
    tenant: number,
    name: string,
    filter: PointFilter,
    cursor: PointsCursor,
    abort?: AbortSignal,
  ): Promise<PointsPage> {
    return await this.#parts.metrics.points(...this.#short(tenant, abort), name, filter, cursor);
  }

  async searchLogs(
    tenant: number,
    filter: LogFilter,
    page: LogPage,
    abort?: AbortSignal,
  ): Promise<FoundLogsAnswer> {
    return await this.#parts.logs.search(...this.#long(tenant, abort), filter, page);
  }

  async readLogs(
    tenant: number,
    keys: readonly LogKey[],
    details: boolean,
    abort?: AbortSignal,
  ): Promise<LogSlice> {
    return await this.#parts.logs.read(...this.#short(tenant, abort), keys, details);
  }

  async readLogTrace(tenant: number, logId: string, abort?: AbortSignal): Promise<string | null> {
    return await this.#parts.logs.trace(...this.#long(tenant, abort), logId);
  }

  /** The first parts of the map's lists, as of one moment. @param since microseconds; null for all time */
  async serviceMap(
    tenant: number,
    since: number | null,
    abort?: AbortSignal,
  ): Promise<Readonly<Record<MapList, MapPage>>> {
    const [read] = this.#short(tenant, abort);
    const firstHour = since === null ? null : hourOf(since);
    return await read(async (connection, capture) => {
      const page = (list: MapList): Promise<MapPage> =>
        readMapPage(connection, capture, { tenant, firstHour, list, after: null });
      return { nodes: await page('nodes'), edges: await page('edges') };
    });
  }

  /** A later part. @param after the names of the last item of the part before */
  async readMap(
    tenant: number,
    since: number | null,
    list: MapList,
    after: readonly string[],
    abort?: AbortSignal,
  ): Promise<MapPage> {
    const [read] = this.#short(tenant, abort);
    const firstHour = since === null ? null : hourOf(since);
    return await read((connection, capture) =>
      readMapPage(connection, capture, { tenant, firstHour, list, after }),
    );
  }

  /** The figures of prompt versions, in their order. */
  async comparePrompts(
    tenant: number,
    versions: readonly NumberedVersion[],
  ): Promise<readonly PromptVersionFigures[]> {
    const [read] = this.#long(tenant, undefined);
    return await this.#parts.prompts.compare(read, versions);
  }

  /** @param limit 0 for none @param now microseconds */
  usage(tenant: number, limit: number, now: number): QuotaUsage {
    const month = monthOf(now);
    return {
      period: printMonth(month),
      used: this.#parts.counts.used(tenant, month),
      limit: limit === 0 ? null : limit,
      resets_at: startOfMonth(month + 1),
    };
  }

  /** How a read that looks at little gets to the tables, and whose it is. */
  #short(tenant: number, abort: AbortSignal | undefined): [read: Read, tenant: number] {
    return [this.#parts.reads.forUser(tenant, false, abort), tenant];
  }

  /** The same for one that may look through much. */
  #long(tenant: number, abort: AbortSignal | undefined): [read: Read, tenant: number] {
    return [this.#parts.reads.forUser(tenant, true, abort), tenant];
  }
}
