import { dirname } from 'node:path';
import type { Logger } from '../../component/telemetry.js';
import type { Micros } from '../../signal/time.js';
import type { Table } from '../table.js';
import { LOGS, POINTS, TRACES } from '../tables.js';
import type {
  AgentComparison,
  AgentDay,
  AgentSummary,
  LogFilter,
  LogPage,
  MetricSummary,
  ModelFilter,
  ModelUsage,
  PointFilter,
  RunFilter,
  RunSummary,
  StoredTrace,
} from '../telemetry-store.js';
import { AgentDayCache } from './agent-day-cache.js';
import { Agents } from './agents.js';
import { Database, MAIN, type Connection, type DatabaseOptions } from './database.js';
import type { TracesMessage } from './encode-traces.js';
import { Fingerprints } from './fingerprints.js';
import { IdleRuns, type IdleRun } from './idle-runs.js';
import { loadIds } from './load-ids.js';
import { MetaTables } from './meta/meta-tables.js';
import type { PointsMessage } from './metrics/encode-points.js';
import { Origins } from './origins.js';
import { StoredMetrics, type PointsAnswer } from './metrics/stored-metrics.js';
import { META_SCHEMA, migrate } from './migrations.js';
import type { LogsMessage } from './logs/encode-logs.js';
import type { LogKey } from './logs/log-keys.js';
import { removeOldLogs } from './logs/log-retention.js';
import { StoredLogs, type FoundLogsAnswer } from './logs/stored-logs.js';
import { Mover } from './mover.js';
import { agentDays, compareAgents, listAgents, readAgent } from './queries/agent-figures.js';
import type { LogSlice } from './queries/logs.js';
import { listModels } from './queries/models.js';
import { listRuns } from './queries/runs.js';
import { readCommits, readHeader, readSpans, type SpanCursor, type SpanPage } from './queries/trace.js';
import { storedRuns } from './queries/stored-runs.js';
import { closing, ReadPool } from './read-pool.js';
import { firstKeptTime, hasOldHotRows, removeOldTraces } from './retention.js';
import { RunFigures, type CountedRun } from './run-figures.js';
import { Segments, type Capture } from './segments.js';
import { Settlement } from './settlement.js';
import { TraceId } from './trace-id.js';
import { IncomingBatch, type TimeoutChange } from './write-group.js';
import { SEGMENT_SIZE, storageFailure, Writer, type CommitReport, type SegmentSize } from './writer.js';

export interface StoreOptions extends DatabaseOptions {
  /** Whole days of traces to keep; null keeps everything. */
  readonly traceRetentionDays: number | null;
  /** Whole days of metric points to keep. */
  readonly metricRetentionDays: number | null;
  /** Whole days of log records to keep. */
  readonly logRetentionDays: number | null;
  /** Other than {@link SEGMENT_SIZE}, for tests of what happens between segments. */
  readonly segmentSize?: SegmentSize;
}

/** What the engine is like at a moment, for metrics. */
export interface StoreFigures {
  readonly hotSegments: number;
  readonly idFilterBytes: number;
  readonly storedSpanIds: number;
  readonly waitingReads: number;
  /** Since the start. */
  readonly refusedReads: number;
}

/** Runs that time out in one commit, and commits of one sweep: more of them wait for the next. */
const IDLE_PAGE = 1000;
const IDLE_PAGES = 20;
const READERS = 2;
const MAX_WAITING_READS = 1000;
/** 90 days of a thousand agents; a day takes some 200 bytes. */
const REMEMBERED_DAYS = 100_000;

/**
 * The embedded store itself, as it lives in its thread: one DuckDB instance, one writer, one mover, a few readers.
 * `README.md` beside this file says which table lies in which file.
 */
export class StoreEngine {
  readonly meta: MetaTables;
  readonly #database: Database;
  readonly #segments: Segments;
  readonly #mover: Mover;
  readonly #settlement: Settlement;
  readonly #writer: Writer;
  readonly #reads: ReadPool;
  readonly #agents: Agents;
  readonly #metrics: StoredMetrics;
  readonly #logs: StoredLogs;
  readonly #figures: RunFigures;
  readonly #days: AgentDayCache;
  readonly #idle: IdleRuns;
  readonly #ids: Fingerprints;
  readonly #traces: Fingerprints;
  readonly #options: StoreOptions;
  readonly #recurring = new Set<Promise<void>>();
  #isClosing = false;

  private constructor(parts: {
    options: StoreOptions;
    database: Database;
    meta: MetaTables;
    segments: Segments;
    mover: Mover;
    settlement: Settlement;
    writer: Writer;
    reads: ReadPool;
    agents: Agents;
    metrics: StoredMetrics;
    logs: StoredLogs;
    figures: RunFigures;
    days: AgentDayCache;
    idle: IdleRuns;
    ids: Fingerprints;
    traces: Fingerprints;
  }) {
    this.#options = parts.options;
    this.#database = parts.database;
    this.meta = parts.meta;
    this.#segments = parts.segments;
    this.#mover = parts.mover;
    this.#settlement = parts.settlement;
    this.#writer = parts.writer;
    this.#reads = parts.reads;
    this.#agents = parts.agents;
    this.#metrics = parts.metrics;
    this.#logs = parts.logs;
    this.#figures = parts.figures;
    this.#days = parts.days;
    this.#idle = parts.idle;
    this.#ids = parts.ids;
    this.#traces = parts.traces;
  }

  /** @throws StoreOpenError with the file and the cure. */
  static async open(
    options: StoreOptions,
    logger: Logger,
    onCommit: (report: CommitReport) => void,
  ): Promise<StoreEngine> {
    const database = await Database.open(options);
    try {
      return await StoreEngine.#openFiles(database, options, logger, onCommit);
    } catch (error) {
      database.close();
      throw error;
    }
  }

  static async #openFiles(
    database: Database,
    options: StoreOptions,
    logger: Logger,
    onCommit: (report: CommitReport) => void,
  ): Promise<StoreEngine> {
    const metaConnection = await database.connect();
    await metaConnection.run(`USE ${MAIN}`);
    await migrate(metaConnection, MAIN, META_SCHEMA, options.path);
    await metaConnection.run(`CHECKPOINT ${MAIN}`);
    const meta = await MetaTables.open(metaConnection);
    const segments = await Segments.open(await database.connect(), options.path, logger);
    const connection = await database.connect();
    const agents = new Agents();
    const origins = new Origins();
    const metrics = new StoredMetrics(origins);
    const logs = new StoredLogs(origins);
    const ids = new Fingerprints({ withNumbers: false });
    const traces = new Fingerprints({ withNumbers: true });
    const figures = new RunFigures();
    const capture = segments.capture();
    try {
      await agents.load(connection, capture);
      await origins.load(connection, capture);
      await metrics.load(connection, capture);
      await loadIds(connection, capture, ids, traces);
      await figures.load(storedRuns(connection, capture));
    } finally {
      capture.release();
    }
    const mover = new Mover(await database.connect(), segments, logger);
    const days = new AgentDayCache(REMEMBERED_DAYS);
    const idle = new IdleRuns();
    const changes = {
      change: (before: CountedRun | null, after: CountedRun) => {
        figures.change(before, after);
        days.change(before, after);
      },
    };
    const settlement = new Settlement(connection, ids, traces, agents, changes, idle);
    const writer = new Writer({
      connection,
      segments,
      settlement,
      ids,
      agents,
      logger,
      onCommit,
      segmentSize: options.segmentSize ?? SEGMENT_SIZE,
      onSealed: () => {
        mover.wake();
      },
    });
    const reads = await ReadPool.open(database, READERS, MAX_WAITING_READS);
    mover.wake();
    return new StoreEngine({
      options,
      database,
      meta,
      segments,
      mover,
      settlement,
      writer,
      reads,
      agents,
      metrics,
      logs,
      figures,
      days,
      idle,
      ids,
      traces,
    });
  }

  get directory(): string {
    return dirname(this.#options.path);
  }

  figures(): StoreFigures {
    return {
      hotSegments: this.#segments.sealed.length + 1,
      idFilterBytes: this.#ids.bytes + this.#traces.bytes,
      storedSpanIds: this.#ids.size,
      waitingReads: this.#reads.waiting,
      refusedReads: this.#reads.refused,
    };
  }

  /** @returns the number of traces taken, which is all of them. */
  async writeTraces(message: TracesMessage): Promise<number> {
    const batch = new IncomingBatch(this.#tenant(message.tenant), message);
    await this.#writer.write({ batch });
    return batch.traces.rows;
  }

  async setOutcome(
    userId: string,
    traceId: string,
    change: { readonly success: boolean; readonly outcome?: string },
  ): Promise<{ success: boolean; outcome: string | null } | null> {
    const id = new TraceId(traceId);
    const header = await this.#writer.write({
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
  ): Promise<{ trace: Omit<StoredTrace, 'spans'>; page: SpanPage } | null> {
    const tenant = this.#tenant(userId);
    const id = new TraceId(traceId);
    if (!this.#traces.mayHave(tenant, id.words, 0)) return null;
    return await this.#read(async (connection, capture) => {
      const seqs = this.#traces.numbers(tenant, id.words, 0);
      const found = await readHeader(connection, capture, this.#agents, tenant, id.text, seqs);
      if (found === null) return null;
      const start = { traceId: id.text, after: null };
      return {
        trace: found.trace,
        page: await readSpans(connection, capture, tenant, start, found.commits),
      };
    });
  }

  /** A later page. The spans may have newer versions by now, in later commits: so it looks where they lie again. */
  async readSpans(userId: string, cursor: SpanCursor): Promise<SpanPage> {
    const tenant = this.#tenant(userId);
    const id = new TraceId(cursor.traceId);
    return await this.#read(async (connection, capture) => {
      const seqs = this.#traces.numbers(tenant, id.words, 0);
      const commits = await readCommits(connection, capture, tenant, id.text, seqs);
      if (commits === null) return { json: new Uint8Array(0), next: null };
      return await readSpans(connection, capture, tenant, cursor, commits);
    });
  }

  async listRuns(
    userId: string,
    filter: RunFilter,
    page: { readonly offset: number; readonly limit: number },
  ): Promise<{ items: readonly RunSummary[]; count: number }> {
    const tenant = this.#tenant(userId);
    return await this.#read((connection, capture) =>
      listRuns(connection, capture, this.#agents, this.#figures, tenant, filter, page),
    );
  }

  async listAgents(userId: string): Promise<readonly AgentSummary[]> {
    const tenant = this.#tenant(userId);
    return await listAgents((work) => this.#read(work), this.#agents, this.#figures, tenant);
  }

  async readAgent(userId: string, agentId: string): Promise<AgentSummary | null> {
    const agent = this.#agents.byId(this.#tenant(userId), agentId);
    if (agent === undefined) return null;
    return await readAgent((work) => this.#read(work), this.#figures, agent);
  }

  async agentDays(
    userId: string,
    agentId: string,
    range: { readonly from: number; readonly to: number },
  ): Promise<{ name: string; days: readonly AgentDay[] } | null> {
    const agent = this.#agents.byId(this.#tenant(userId), agentId);
    if (agent === undefined) return null;
    const days = await this.#days.read(agent.agent_no, range, (missing) =>
      this.#read((connection, capture) => agentDays(connection, capture, agent, missing)),
    );
    return { name: agent.name, days };
  }

  async compareAgents(
    userId: string,
    agentIds: readonly string[],
  ): Promise<readonly AgentComparison[] | null> {
    const tenant = this.#tenant(userId);
    const compared = agentIds.flatMap((id) => this.#agents.byId(tenant, id) ?? []);
    if (compared.length < agentIds.length) return null;
    return await this.#read((connection, capture) =>
      compareAgents(connection, capture, this.#figures, compared),
    );
  }

  async listModels(
    userId: string,
    filter: ModelFilter,
    page: { readonly offset: number; readonly limit: number },
  ): Promise<{ items: readonly ModelUsage[]; count: number }> {
    const tenant = this.#tenant(userId);
    return await this.#read((connection, capture) =>
      listModels(connection, capture, this.#agents, tenant, filter, page),
    );
  }

  /** @returns the positions of the points that were refused, as their user has too many metrics */
  async writePoints(message: PointsMessage): Promise<number[]> {
    return await this.#metrics.write(this.#writer, this.#tenant(message.tenant), message);
  }

  listMetrics(userId: string): readonly MetricSummary[] {
    return this.#metrics.list(this.#tenant(userId));
  }

  async queryMetric(userId: string, name: string, filter: PointFilter): Promise<PointsAnswer | null> {
    return await this.#metrics.query((work) => this.#read(work), this.#tenant(userId), name, filter);
  }

  async writeLogs(message: LogsMessage): Promise<void> {
    await this.#logs.write(this.#writer, this.#tenant(message.tenant), message);
  }

  async searchLogs(userId: string, filter: LogFilter, page: LogPage): Promise<FoundLogsAnswer> {
    return await this.#logs.search((work) => this.#read(work), this.#tenant(userId), filter, page);
  }

  async readLogs(userId: string, keys: readonly LogKey[], details: boolean): Promise<LogSlice> {
    return await this.#logs.read((work) => this.#read(work), this.#tenant(userId), keys, details);
  }

  async readLogTrace(userId: string, logId: string): Promise<string | null> {
    return await this.#logs.trace((work) => this.#read(work), this.#tenant(userId), logId);
  }

  /** Removes what retention no longer keeps. @param now microseconds */
  async applyRetention(now: number): Promise<void> {
    await this.#recur(() => this.#applyRetention(now));
  }

  async #applyRetention(now: number): Promise<void> {
    const { traceRetentionDays, metricRetentionDays, logRetentionDays } = this.#options;
    if (traceRetentionDays !== null) await this.#removeTraces(firstKeptTime(now, traceRetentionDays));
    if (metricRetentionDays !== null) await this.#removePoints(firstKeptTime(now, metricRetentionDays));
    if (logRetentionDays !== null) await this.#removeLogs(firstKeptTime(now, logRetentionDays));
  }

  async #removeTraces(firstKept: Micros): Promise<void> {
    this.#settlement.forgetBefore(firstKept);
    await this.#moveOld(TRACES, 'started_at', firstKept);
    const isRemoved = await this.#mover.between((connection) => removeOldTraces(connection, firstKept));
    if (isRemoved) await this.#mover.checkpoint();
    if (!isRemoved) return;
    this.#days.clear();
    await this.#read((connection, capture) => this.#figures.load(storedRuns(connection, capture)));
  }

  async #removePoints(firstKept: Micros): Promise<void> {
    await this.#moveOld(POINTS, 'timestamp', firstKept);
    const isRemoved = await this.#mover.between((connection) =>
      this.#metrics.removeBefore(connection, firstKept),
    );
    if (isRemoved) await this.#mover.checkpoint();
  }

  async #removeLogs(firstKept: Micros): Promise<void> {
    await this.#moveOld(LOGS, 'timestamp', firstKept);
    const isRemoved = await removeOldLogs((work) => this.#mover.between(work), firstKept);
    if (isRemoved) await this.#mover.checkpoint();
  }

  /** A quiet store fills a segment in months, and only what was moved can be removed. */
  async #moveOld(table: Table, time: string, firstKept: Micros): Promise<void> {
    const isThere = await this.#read((connection, capture) =>
      hasOldHotRows(connection, capture, table, time, firstKept),
    );
    if (!isThere) return;
    this.#writer.seal();
    await this.#mover.settled();
  }

  /** Lets runs of which nothing came for too long count as timed out. @param now microseconds */
  async timeOutIdle(now: number): Promise<void> {
    await this.#recur(() => this.#timeOutIdle(now));
  }

  async #timeOutIdle(now: number): Promise<void> {
    let found: readonly IdleRun[];
    let pages = 0;
    do {
      found = await this.#idle.find(now, IDLE_PAGE, (work) => this.#read(work));
      await Promise.all(found.map((run) => this.#writer.write({ timeout: timeoutOf(run) })));
    } while (found.length === IDLE_PAGE && ++pages < IDLE_PAGES && !this.#isClosing);
  }

  /** Waits until the hot segments sealed so far are moved. */
  async settled(): Promise<void> {
    await this.#mover.settled();
  }

  /** For a `close` that must not take longer: refuses what waits and breaks off what can be broken off. */
  hurry(): void {
    this.#writer.refuseWaiting();
    this.#reads.refuseWaiting();
    this.#database.interrupt();
  }

  /** Commits what was taken, finishes the reads under way, and closes every file. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#writer.drained();
    await this.#mover.close();
    await Promise.allSettled(this.#recurring);
    await this.#writer.drained();
    await this.#reads.close();
    await this.meta.idle();
    await this.#segments.close();
    this.#database.close();
  }

  /** Work of many steps that nobody waits for but {@link close}: between two steps no file may be closed. */
  async #recur(work: () => Promise<void>): Promise<void> {
    if (this.#isClosing) throw closing();
    const running = work();
    this.#recurring.add(running);
    try {
      await running;
    } finally {
      this.#recurring.delete(running);
    }
  }

  #tenant(userId: string): number {
    const tenant = this.meta.tenantOf(userId);
    if (tenant === undefined) throw new Error('a request came for a user that the store does not know');
    return tenant;
  }

  async #read<T>(work: (connection: Connection, capture: Capture) => Promise<T>): Promise<T> {
    return await this.#reads.use(async (connection) => {
      await this.#segments.ready();
      const capture = this.#segments.capture();
      try {
        return await work(connection, capture);
      } catch (error) {
        throw storageFailure(error);
      } finally {
        capture.release();
      }
    });
  }
}

function timeoutOf({ tenant, traceId, seq }: IdleRun): TimeoutChange {
  const { words } = new TraceId(traceId);
  return { tenant, words, seq };
}
