import { dirname } from 'node:path';
import type { Logger } from '../../component/telemetry.js';
import type { MapRebuild } from '../map-rebuild.js';
import { monthOf, printMonth, startOfMonth } from '../month.js';
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
  PromptLink,
  PromptVersionFigures,
  RunFilter,
  StoredTrace,
  QuotaUsage,
} from '../telemetry-store.js';
import type { Observations } from './alerts/observations.js';
import type { CountedMessage } from './counted-message.js';
import type { TracesMessage } from './encode-traces.js';
import { openParts, type EngineParts } from './engine-parts.js';
import { countedOf, type Counted } from './event-counts.js';
import type { EventReads } from './events/event-reads.js';
import type { LogsMessage } from './logs/encode-logs.js';
import type { LogKey } from './logs/log-keys.js';
import type { FoundLogsAnswer } from './logs/stored-logs.js';
import { hourOf } from '../../signal/trace-map.js';
import type { MetaTables } from './meta/meta-tables.js';
import type { PointsMessage } from './metrics/encode-points.js';
import type { PointsAnswer } from './metrics/stored-metrics.js';
import type { LogSlice } from './queries/logs.js';
import type { PointsCursor, PointsPage } from './queries/metrics.js';
import type { RunsPart } from './queries/runs.js';
import { readMapPage, type MapList, type MapPage } from './queries/service-map.js';
import type { SpanCursor, SpanPage } from './queries/trace.js';
import { TraceId } from './trace-id.js';
import type { Read } from './read.js';
import { figuresOf, type StoreFigures } from './store-figures.js';
import type { StoreListener, StoreOptions } from './store-options.js';
import { IncomingBatch } from './write-group.js';
import type { WriteAnswer } from './commit-line.js';

/**
 * The embedded store itself, as it lives in its thread: one DuckDB instance, one writer, one mover, a few readers.
 * `README.md` beside this file says which table lies in which file. Here user ids become tenants' numbers.
 */
export class StoreEngine {
  /** The directory of its files. */
  readonly directory: string;
  readonly meta: MetaTables;
  readonly events: EventReads;
  readonly observations: Observations;
  readonly #parts: EngineParts;

  private constructor(path: string, parts: EngineParts) {
    this.directory = dirname(path);
    this.meta = parts.meta;
    this.events = parts.events;
    this.observations = parts.observations;
    this.#parts = parts;
  }

  /** @throws StoreOpenError with the file and the cure. */
  static async open(options: StoreOptions, logger: Logger, listener: StoreListener): Promise<StoreEngine> {
    return new StoreEngine(options.path, await openParts(options, logger, listener));
  }

  figures(): StoreFigures {
    return figuresOf(this.#parts);
  }

  /** Takes all traces of the message. */
  async writeTraces(message: TracesMessage): Promise<WriteAnswer> {
    const tenant = this.#tenant(message.tenant);
    const batch = new IncomingBatch(tenant, message, this.#counted(tenant, message));
    const { usage } = await this.#parts.writer.write({ batch });
    return { usage };
  }

  async setOutcome(
    userId: string,
    traceId: string,
    change: { readonly success: boolean; readonly outcome?: string },
  ): Promise<{ success: boolean; outcome: string | null } | null> {
    const id = new TraceId(traceId);
    const { header } = await this.#parts.writer.write({
      outcome: {
        tenant: this.#tenant(userId),
        words: id.words,
        success: change.success,
        outcome: change.outcome,
      },
    });
    return header === null ? null : { success: change.success, outcome: header.outcome };
  }

  /** The header and the first page of spans. */
  async readTrace(
    userId: string,
    traceId: string,
    abort?: AbortSignal,
  ): Promise<{ trace: Omit<StoredTrace, 'spans'>; page: SpanPage } | null> {
    return await this.#parts.runs.trace(...this.#short(userId, abort), traceId);
  }

  async readSpans(userId: string, cursor: SpanCursor, abort?: AbortSignal): Promise<SpanPage> {
    return await this.#parts.runs.spans(...this.#short(userId, abort), cursor);
  }

  async listRuns(
    userId: string,
    filter: RunFilter,
    page: { readonly offset: number; readonly limit: number },
    abort?: AbortSignal,
  ): Promise<RunsPart & { readonly count: number }> {
    const asked = filter.query === undefined ? this.#short(userId, abort) : this.#long(userId, abort);
    return await this.#parts.runs.list(...asked, filter, page);
  }

  async readRuns(userId: string, ids: readonly string[], abort?: AbortSignal): Promise<RunsPart> {
    return await this.#parts.runs.rest(...this.#short(userId, abort), ids);
  }

  async listAgents(userId: string, abort?: AbortSignal): Promise<readonly AgentSummary[]> {
    return await this.#parts.runs.agents(...this.#short(userId, abort));
  }

  async findAgents(
    userId: string,
    filter: AgentFilter,
    page: { readonly offset: number; readonly limit: number },
    abort?: AbortSignal,
  ): Promise<{ items: readonly AgentSummary[]; count: number }> {
    return await this.#parts.runs.someAgents(...this.#short(userId, abort), filter, page);
  }

  async readAgent(userId: string, agentId: string, abort?: AbortSignal): Promise<AgentSummary | null> {
    return await this.#parts.runs.agent(...this.#short(userId, abort), agentId);
  }

  async agentDays(
    userId: string,
    agentId: string,
    range: { readonly from: number; readonly to: number },
    abort?: AbortSignal,
  ): Promise<{ name: string; days: readonly AgentDay[] } | null> {
    return await this.#parts.runs.agentDays(...this.#short(userId, abort), agentId, range);
  }

  async compareAgents(
    userId: string,
    agentIds: readonly string[],
    abort?: AbortSignal,
  ): Promise<readonly AgentComparison[] | null> {
    return await this.#parts.runs.compare(...this.#short(userId, abort), agentIds);
  }

  async listModels(
    userId: string,
    filter: ModelFilter,
    page: { readonly offset: number; readonly limit: number },
    abort?: AbortSignal,
  ): Promise<{ items: readonly ModelUsage[]; count: number }> {
    return await this.#parts.runs.models(...this.#long(userId, abort), filter, page);
  }

  /** @returns the positions of the points that were refused, as their user has too many metrics */
  async writePoints(message: PointsMessage): Promise<WriteAnswer & { readonly refused: number[] }> {
    const { metrics, writer, touched } = this.#parts;
    const tenant = this.#tenant(message.tenant);
    const answer = await metrics.write(writer, tenant, message, this.#counted(tenant, message));
    touched.points(tenant);
    return answer;
  }

  listMetrics(userId: string): readonly MetricSummary[] {
    return this.#parts.metrics.list(this.#tenant(userId));
  }

  async queryMetric(
    userId: string,
    name: string,
    filter: PointFilter,
    abort?: AbortSignal,
  ): Promise<PointsAnswer | null> {
    return await this.#parts.metrics.query(...this.#short(userId, abort), name, filter);
  }

  async readPoints(
    userId: string,
    name: string,
    filter: PointFilter,
    cursor: PointsCursor,
    abort?: AbortSignal,
  ): Promise<PointsPage> {
    return await this.#parts.metrics.points(...this.#short(userId, abort), name, filter, cursor);
  }

  async writeLogs(message: LogsMessage): Promise<WriteAnswer> {
    const { logs, writer } = this.#parts;
    const tenant = this.#tenant(message.tenant);
    return await logs.write(writer, tenant, message, this.#counted(tenant, message));
  }

  async searchLogs(
    userId: string,
    filter: LogFilter,
    page: LogPage,
    abort?: AbortSignal,
  ): Promise<FoundLogsAnswer> {
    return await this.#parts.logs.search(...this.#long(userId, abort), filter, page);
  }

  async readLogs(
    userId: string,
    keys: readonly LogKey[],
    details: boolean,
    abort?: AbortSignal,
  ): Promise<LogSlice> {
    return await this.#parts.logs.read(...this.#short(userId, abort), keys, details);
  }

  async readLogTrace(userId: string, logId: string, abort?: AbortSignal): Promise<string | null> {
    return await this.#parts.logs.trace(...this.#long(userId, abort), logId);
  }

  /** The first parts of its lists, of one moment. @param since microseconds; null for all time */
  async serviceMap(
    userId: string,
    since: number | null,
    abort?: AbortSignal,
  ): Promise<Readonly<Record<MapList, MapPage>>> {
    const [read, tenant] = this.#short(userId, abort);
    const firstHour = since === null ? null : hourOf(since);
    return await read(async (connection, capture) => {
      const page = (list: MapList): Promise<MapPage> =>
        readMapPage(connection, capture, { tenant, firstHour, list, after: null });
      return { nodes: await page('nodes'), edges: await page('edges') };
    });
  }

  /** A later part. @param after the names of the last item of the part before */
  async readMap(
    userId: string,
    since: number | null,
    list: MapList,
    after: readonly string[],
    abort?: AbortSignal,
  ): Promise<MapPage> {
    const [read, tenant] = this.#short(userId, abort);
    const firstHour = since === null ? null : hourOf(since);
    return await read((connection, capture) =>
      readMapPage(connection, capture, { tenant, firstHour, list, after }),
    );
  }

  /** Resolves after the commit. @param now microseconds. @returns false where the user has no such prompt version */
  async linkPrompt(userId: string, link: PromptLink, now: number): Promise<boolean> {
    const { prompts, writer } = this.#parts;
    return await prompts.link(writer, this.#tenant(userId), link, now);
  }

  async comparePrompts(userId: string, name: string): Promise<readonly PromptVersionFigures[] | null> {
    return await this.#parts.prompts.compare(...this.#long(userId, undefined), name);
  }

  /** @param monthlyEvents the limit of users without one of their own; 0 for none @param now microseconds */
  usage(userId: string, monthlyEvents: number, now: number): QuotaUsage {
    const tenant = this.#tenant(userId);
    const month = monthOf(now);
    const limit = this.meta.limitOf(tenant) ?? monthlyEvents;
    return {
      period: printMonth(month),
      used: this.#parts.counts.used(tenant, month),
      limit: limit === 0 ? null : limit,
      resets_at: startOfMonth(month + 1),
    };
  }

  /** Removes what retention no longer keeps. @param now microseconds */
  async applyRetention(now: number): Promise<void> {
    await this.#parts.housekeeping.applyRetention(now);
  }

  /** Lets runs of which nothing came for too long count as timed out. @param now microseconds */
  async timeOutIdle(now: number): Promise<void> {
    await this.#parts.housekeeping.timeOutIdle(now);
  }

  /** @returns null while a rebuild is under way already */
  async rebuildMap(dryRun: boolean): Promise<MapRebuild | null> {
    return await this.#parts.housekeeping.rebuildMap(dryRun);
  }

  /** Waits until the full segments are sealed and moved. */
  async settled(): Promise<void> {
    await this.#parts.writer.sealIfFull();
    await this.#parts.mover.settled();
  }

  /** For a `close` that must not take longer: refuses what waits and breaks off what can be broken off. */
  hurry(): void {
    const { writer, pools, database } = this.#parts;
    writer.refuseWaiting();
    pools.users.hurry();
    pools.own.hurry();
    database.interrupt();
  }

  /**
   * Commits what was taken, finishes the reads under way, and closes every file.
   *
   * @param readsOver resolves when none is under way that may still ask for a connection
   */
  async close(readsOver?: () => Promise<void>): Promise<void> {
    const { housekeeping, writer, mover, pools, segments, traces, closedSpans, prompts, database, room } =
      this.#parts;
    await room.close();
    const indexes = [traces, closedSpans, prompts.linked];
    for (const index of indexes) index.stop();
    const swept = housekeeping.close();
    await writer.drained();
    await mover.close();
    await swept;
    await writer.drained();
    await readsOver?.();
    await pools.users.close();
    await pools.own.close();
    for (const index of indexes) await index.close();
    await this.meta.idle();
    await segments.close();
    database.close();
  }

  #counted(tenant: number, { counted }: { readonly counted?: CountedMessage }): Counted | null {
    return countedOf(counted, tenant, this.meta.limitOf(tenant));
  }

  /** The way to the tables for a read that looks at little, and whose it is. */
  #short(userId: string, abort: AbortSignal | undefined): [read: Read, tenant: number] {
    const tenant = this.#tenant(userId);
    return [this.#parts.reads.forUser(tenant, false, abort), tenant];
  }

  /** Likewise for one that may look through much. */
  #long(userId: string, abort: AbortSignal | undefined): [read: Read, tenant: number] {
    const tenant = this.#tenant(userId);
    return [this.#parts.reads.forUser(tenant, true, abort), tenant];
  }

  #tenant(userId: string): number {
    const tenant = this.meta.tenantOf(userId);
    if (tenant === undefined) throw new Error('a request came for a user that the store does not know');
    return tenant;
  }
}
