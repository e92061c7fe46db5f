import type { Component } from '../../component/component.js';
import { ConsumeError } from '../../component/consume-error.js';
import type { ConsumeContext, Receipt } from '../../component/consumer.js';
import type { Settings } from '../../component/factory.js';
import type { Host } from '../../component/host.js';
import type { Counter, Histogram } from '../../component/telemetry.js';
import type { LogsBatch, MetricsBatch, TracesBatch } from '../../signal/batch.js';
import type { Micros } from '../../signal/time.js';
import { ThreadClient } from '../../worker/thread-client.js';
import type {
  AgentComparison,
  AgentDay,
  AgentSummary,
  FoundLogs,
  LogFilter,
  LogPage,
  MetricPoints,
  MetricSummary,
  ModelFilter,
  ModelUsage,
  PointFilter,
  RunFilter,
  RunSummary,
  StoredTrace,
  TelemetryStore,
} from '../telemetry-store.js';
import { TracesEncoder, transferablesOf } from './encode-traces.js';
import { LogsEncoder, transferablesOf as transferablesOfLogs } from './logs/encode-logs.js';
import type { LogKey } from './logs/log-keys.js';
import type { FoundLogsAnswer } from './logs/stored-logs.js';
import { MetaClient } from './meta/meta-client.js';
import { PointsEncoder, transferablesOf as transferablesOfPoints } from './metrics/encode-points.js';
import { MAX_STREAMS_OF_TENANT } from './metrics/metric-streams.js';
import type { LogSlice } from './queries/logs.js';
import type { SpanCursor, SpanPage } from './queries/trace.js';
import { revive } from './revive-error.js';
import type { StoreOptions } from './engine-parts.js';
import type { StoreFigures } from './store-engine.js';
import type { LogNotice, MetaMethod, StoreMethod } from './store-thread.js';
import type { CommitReport } from './writer.js';

export interface DuckDBStoreOptions extends StoreOptions {
  /** Encoded batches that may wait for their commit, in bytes; more is refused as overloaded. */
  readonly maxQueueBytes: number;
}

const FIGURES_EVERY_MS = 5000;
const RETENTION_EVERY_MS = 3_600_000;
/** How late a run may time out, at most. */
const IDLE_EVERY_MS = 5000;
const NO_REFUSALS: Receipt['refused'] = [];
const TOO_MANY_METRICS = `/stream/name: is one metric more than a user may have, which is ${MAX_STREAMS_OF_TENANT}, or fewer with very long names and descriptions`;

/**
 * The embedded store as the rest of the daemon sees it: it turns batches into columns, hands them to the store thread,
 * and answers when they are committed.
 */
export class DuckDBStore extends MetaClient implements Component, TelemetryStore {
  readonly #settings: Settings<unknown>;
  readonly #options: DuckDBStoreOptions;
  readonly #encoder = new TracesEncoder();
  readonly #pointsEncoder = new PointsEncoder();
  readonly #logsEncoder = new LogsEncoder();
  readonly #commits: Histogram;
  readonly #committedRows: Counter;
  readonly #refusedBatches: Counter;
  readonly #refusedReads: Counter;
  readonly #ends: (() => void)[] = [];
  #thread: ThreadClient | null = null;
  #directory = '';
  #queuedBytes = 0;
  #figures: StoreFigures = {
    hotSegments: 0,
    idFilterBytes: 0,
    storedSpanIds: 0,
    waitingReads: 0,
    refusedReads: 0,
  };

  constructor(settings: Settings<unknown>, options: DuckDBStoreOptions) {
    super();
    this.#settings = settings;
    this.#options = options;
    const { meter } = settings;
    this.#commits = meter.histogram('store_commit_duration_seconds', {
      description: 'Time of one group commit, from taking the batches to the end of the transaction.',
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    });
    this.#committedRows = meter.counter('store_committed_rows_total', {
      description: 'Rows written, new versions of spans and headers included.',
      labelNames: ['table'],
    });
    this.#refusedReads = meter.counter('store_refused_reads_total', {
      description: 'Reads refused because too many were waiting.',
    });
    this.#refusedBatches = meter.counter('store_refused_batches_total', {
      description: 'Batches refused because too much was waiting for its commit (max_queue_size).',
    });
  }

  /** @throws StoreOpenError with the file and the cure. */
  async start(host: Host): Promise<void> {
    const thread = new ThreadClient({
      module: new URL('./store-thread.js', import.meta.url),
      name: 'jackdaw-store',
      workerData: this.#options,
      revive,
      ended: (cause) => unavailable('The store is closed.', cause),
      onNotice: (notice, value) => {
        this.#notice(notice, value);
      },
      onCrash: (error) => {
        this.#settings.logger.error({ err: error }, 'The store thread ended.');
        host.reportStatus({
          level: 'fatal',
          message: 'The store thread ended; see the log. What was acknowledged is on disk.',
        });
      },
    });
    try {
      this.#directory = await thread.call<string>('open', []);
    } catch (error) {
      await thread.close();
      throw error;
    }
    this.#thread = thread;
    this.#observe();
    this.#repeat(FIGURES_EVERY_MS, async () => {
      const figures = await thread.call<StoreFigures>('figures', []);
      this.#refusedReads.add(figures.refusedReads - this.#figures.refusedReads);
      this.#figures = figures;
    });
    this.#repeat(IDLE_EVERY_MS, async () => {
      await thread.call('timeOutIdle', [this.#settings.clock.now()]);
    });
    const { traceRetentionDays, metricRetentionDays, logRetentionDays } = this.#options;
    if (traceRetentionDays !== null || metricRetentionDays !== null || logRetentionDays !== null) {
      this.#repeat(RETENTION_EVERY_MS, async () => {
        await thread.call('applyRetention', [this.#settings.clock.now()]);
      });
    }
  }

  async shutdown(deadline: AbortSignal): Promise<void> {
    for (const end of this.#ends.splice(0)) end();
    const thread = this.#thread;
    this.#thread = null;
    // A thread that has crashed was reported then, and there is nothing left to close.
    if (thread === null || thread.hasEnded) return;
    // Ending the thread in the middle of a statement would end the process: it is asked to come to an end instead.
    const hurry = (): void => {
      thread.call('hurry', []).catch(() => undefined);
    };
    deadline.addEventListener('abort', hurry, { once: true });
    try {
      if (deadline.aborted) hurry();
      await thread.call('close', []);
    } finally {
      deadline.removeEventListener('abort', hurry);
      await thread.close();
    }
  }

  override get directory(): string {
    return this.#directory;
  }

  async writeTraces(batch: TracesBatch, context: ConsumeContext): Promise<Receipt> {
    this.#checkQueue();
    const message = this.#encoder.encode(batch, context.receivedAt);
    const accepted = await this.#write<number>('writeTraces', message, transferablesOf(message));
    return { accepted, refused: NO_REFUSALS };
  }

  async writeMetrics(batch: MetricsBatch): Promise<Receipt> {
    this.#checkQueue();
    const { length } = batch.items;
    const message = this.#pointsEncoder.encode(batch);
    const refused = await this.#write<number[]>('writePoints', message, transferablesOfPoints(message));
    return {
      accepted: length - refused.length,
      refused: refused.map((index) => ({ index, reason: TOO_MANY_METRICS })),
    };
  }

  /** @throws ConsumeError where too much waits already: before anything is encoded. */
  #checkQueue(): void {
    if (this.#queuedBytes > this.#options.maxQueueBytes) {
      this.#refusedBatches.add(1);
      throw new ConsumeError('More is waiting for the store than extensions.duckdb.max_queue_size allows.', {
        code: 'overloaded',
        retryable: true,
        retryAfterMs: 1000,
      });
    }
  }

  /** Hands a message to the thread. @returns what it says after the commit */
  async #write<T>(method: string, message: unknown, buffers: readonly ArrayBuffer[]): Promise<T> {
    const thread = this.#running();
    const bytes = buffers.reduce((sum, buffer) => sum + buffer.byteLength, 0);
    this.#queuedBytes += bytes;
    try {
      return await thread.call<T>(method, [message], buffers);
    } finally {
      this.#queuedBytes -= bytes;
    }
  }

  async readTrace(tenant: string, traceId: string): Promise<StoredTrace | null> {
    const thread = this.#running();
    const found = await thread.call<{ trace: Omit<StoredTrace, 'spans'>; page: SpanPage } | null>(
      'readTrace',
      [tenant, traceId],
    );
    if (found === null) return null;
    return {
      ...found.trace,
      spans: pages(found.page, (cursor) => thread.call('readSpans', [tenant, cursor])),
    };
  }

  async setOutcome(
    tenant: string,
    traceId: string,
    change: { readonly success: boolean; readonly outcome?: string },
  ): Promise<{ readonly success: boolean; readonly outcome: string | null } | null> {
    return await this.#store('setOutcome', tenant, traceId, change);
  }

  async listRuns(
    tenant: string,
    filter: RunFilter,
    page: { readonly offset: number; readonly limit: number },
  ): Promise<{ readonly items: readonly RunSummary[]; readonly count: number }> {
    return await this.#store('listRuns', tenant, filter, page);
  }

  async listAgents(tenant: string): Promise<readonly AgentSummary[]> {
    return await this.#store('listAgents', tenant);
  }

  async readAgent(tenant: string, agentId: string): Promise<AgentSummary | null> {
    return await this.#store('readAgent', tenant, agentId);
  }

  async agentDays(
    tenant: string,
    agentId: string,
    range: { readonly from: Micros; readonly to: Micros },
  ): Promise<{ readonly name: string; readonly days: readonly AgentDay[] } | null> {
    return await this.#store('agentDays', tenant, agentId, range);
  }

  async compareAgents(
    tenant: string,
    agentIds: readonly string[],
  ): Promise<readonly AgentComparison[] | null> {
    return await this.#store('compareAgents', tenant, agentIds);
  }

  async listModels(
    tenant: string,
    filter: ModelFilter,
    page: { readonly offset: number; readonly limit: number },
  ): Promise<{ readonly items: readonly ModelUsage[]; readonly count: number }> {
    return await this.#store('listModels', tenant, filter, page);
  }

  async listMetrics(tenant: string): Promise<readonly MetricSummary[]> {
    return await this.#store('listMetrics', tenant);
  }

  async queryMetric(tenant: string, name: string, filter: PointFilter): Promise<MetricPoints | null> {
    return await this.#running().call('queryMetric', [tenant, name, filter]);
  }

  async writeLogs(batch: LogsBatch): Promise<Receipt> {
    this.#checkQueue();
    const { length } = batch.items;
    const message = this.#logsEncoder.encode(batch);
    await this.#write('writeLogs', message, transferablesOfLogs(message));
    return { accepted: length, refused: NO_REFUSALS };
  }

  async searchLogs(tenant: string, filter: LogFilter, page: LogPage): Promise<FoundLogs> {
    const thread = this.#running();
    const { count, slice } = await thread.call<FoundLogsAnswer>('searchLogs', [tenant, filter, page]);
    const items = logSlices(slice, (keys) => thread.call('readLogs', [tenant, keys, page.details ?? false]));
    return { count, items };
  }

  async readLogTrace(tenant: string, logId: string): Promise<string | null> {
    return await this.#store('readLogTrace', tenant, logId);
  }

  /** Waits until every sealed segment lies in the cold file. For tests and measurements. */
  async settled(): Promise<void> {
    await this.#running().call('settled', []);
  }

  async #store<T>(method: StoreMethod, ...args: unknown[]): Promise<T> {
    return await this.#running().call<T>('store', [method, ...args]);
  }

  protected override async meta<T>(method: MetaMethod, ...args: unknown[]): Promise<T> {
    return await this.#running().call<T>('meta', [method, ...args]);
  }

  #running(): ThreadClient {
    if (this.#thread === null) {
      throw unavailable('The store is not open.');
    }
    return this.#thread;
  }

  #notice(notice: string, value: unknown): void {
    if (notice === 'commit') {
      const report = value as CommitReport;
      this.#commits.record(report.ms / 1000);
      for (const [table, rows] of Object.entries(report.rows)) this.#committedRows.add(rows, { table });
    } else if (notice === 'log') {
      const { level, fields, message } = value as LogNotice;
      this.#settings.logger[level](fields, message);
    }
  }

  #observe(): void {
    const { meter } = this.#settings;
    const gauge = (name: string, description: string, read: () => number): void => {
      this.#ends.push(meter.gauge(name, { description }, read));
    };
    gauge('store_queued_bytes', 'Encoded batches that wait for their commit.', () => this.#queuedBytes);
    gauge(
      'store_hot_segments',
      'Files that take new rows or wait to be moved.',
      () => this.#figures.hotSegments,
    );
    gauge(
      'store_id_filter_bytes',
      'Memory of the ids of all spans and traces.',
      () => this.#figures.idFilterBytes,
    );
    gauge('store_spans', 'Spans stored.', () => this.#figures.storedSpanIds);
    gauge('store_waiting_reads', 'Reads that wait for a connection.', () => this.#figures.waitingReads);
  }

  /** Does something now and again and again, until the end. A failure is logged and waits for the next turn. */
  #repeat(everyMs: number, work: () => Promise<void>): void {
    let cancel = (): void => undefined;
    let hasEnded = false;
    const turn = async (): Promise<void> => {
      try {
        await work();
      } catch (error) {
        if (!hasEnded) this.#settings.logger.warn({ err: error }, 'A recurring task of the store failed.');
      }
      if (!hasEnded) cancel = this.#settings.clock.after(everyMs, () => void turn());
    };
    this.#ends.push(() => {
      hasEnded = true;
      cancel();
    });
    void turn();
  }
}

async function* pages(
  first: SpanPage,
  read: (cursor: SpanCursor) => Promise<SpanPage>,
): AsyncGenerator<Uint8Array> {
  let page = first;
  yield page.json;
  while (page.next !== null) {
    page = await read(page.next);
    if (page.json.length > 0) yield COMMA;
    yield page.json;
  }
}

async function* logSlices(
  first: LogSlice,
  read: (keys: readonly LogKey[]) => Promise<LogSlice>,
): AsyncGenerator<Uint8Array> {
  let [slice, isFirst] = [first, true];
  for (;;) {
    if (slice.json.length > 0) {
      if (!isFirst) yield COMMA;
      yield slice.json;
      isFirst = false;
    }
    if (slice.rest.length === 0) return;
    slice = await read(slice.rest);
  }
}

const COMMA = Buffer.from(',');

function unavailable(message: string, cause?: unknown): ConsumeError {
  return new ConsumeError(message, {
    code: 'storage_unavailable',
    retryable: true,
    retryAfterMs: 5000,
    cause,
  });
}
