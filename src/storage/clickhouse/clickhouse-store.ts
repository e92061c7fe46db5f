import { randomUUID } from 'node:crypto';
import type { Component } from '../../component/component.js';
import { ConsumeError } from '../../component/consume-error.js';
import { notOpen } from '../contracts/errors.js';
import type { Settings } from '../../component/factory.js';
import type { Host } from '../../component/host.js';
import { repeat } from '../../telemetry/repeat.js';
import { waitFor } from '../../telemetry/wait-for.js';
import { isControlStore, type ControlStore } from '../contracts/control-store.js';
import type { Agents, Models, Runs, Series, Sessions } from '../contracts/runs.js';
import type { AlertStats, PastStats } from '../contracts/alerts.js';
import type { Logs } from '../contracts/logs.js';
import type { Metrics } from '../contracts/metrics.js';
import type { PromptRuns } from '../contracts/prompts.js';
import type { RunGroups } from '../contracts/run-groups.js';
import { ReadMetrics } from '../shared/read-metrics.js';
import type { ReadPool } from '../shared/read-pool.js';
import type { Scores } from '../contracts/scores.js';
import type { ServiceMap } from '../contracts/service-map.js';
import { MeasuredBytes } from '../shared/measured-bytes.js';
import type { PartialTelemetryStore } from '../contracts/telemetry-store.js';
import type { TelemetryTransfer, Transferable } from '../contracts/transfer.js';
import type { EncodedWrites, TelemetryWriter, Usage } from '../contracts/telemetry-writer.js';
import { RunStore } from './run-store.js';
import { TransferIn } from './transfer/transfer-in.js';
import { TransferOut } from './transfer/transfer-out.js';
import { LocalChangeFeed } from '../shared/local-change-feed.js';
import type { ClickHouseOptions } from './clickhouse-options.js';
import { ClickHouseStoreError } from './clickhouse-store-error.js';
import { Connection } from './client/connection.js';
import { withFairReads, openReadPermits, type ReadPermit } from './client/fair-reads.js';
import { StoreHandle } from './client/store-handle.js';
import { removeLinks } from './runs/prompt-links.js';
import { readStoredBytes } from './queries/stored-bytes.js';
import { removeOldDays } from './tables/retention.js';
import { StoreSizes } from './tables/store-sizes.js';
import { Tenants } from './client/tenants.js';
import { LogReads } from './logs/log-reads.js';
import { MetricReads } from './metrics/metric-reads.js';
import { ItemWrites } from './item-writes.js';
import { LOGGED_EVENTS, LOGS } from './tables/log-tables.js';
import { METRICS, POINTS } from './tables/metric-tables.js';
import { MAP_DAYS } from './tables/map-tables.js';
import { SCORES } from './tables/score-tables.js';
import { MESSAGES, RUNS, SPANS } from './tables/run-tables.js';
import { migrate } from './tables/migrate.js';
import { MIGRATIONS } from './tables/migrations.js';

export interface ClickHouseStoreOptions extends ClickHouseOptions {
  /** Id of the extension that provides the control store. */
  readonly control: string;
}

const RETENTION_EVERY_MS = 3_600_000;
const FORGET_EVERY_MS = 3_600_000;
/** Interval for timing out idle runs and finishing the writes of dead processes. */
const UPKEEP_EVERY_MS = 5000;
const RETENTION_LEASE_MS = 600_000;
/** Interval for updating the metrics of reads. */
const STATS_EVERY_MS = 5000;
const SIZES_EVERY_MS = 60_000;
/** Interval of the health probe. */
const LOOK_EVERY_MS = 5000;

/** The store in ClickHouse as a component of the daemon (`README.md`). */
export class ClickHouseStore implements Component, PartialTelemetryStore, Transferable {
  readonly #handle = new StoreHandle();
  readonly isShared = true;
  readonly arrivals = new LocalChangeFeed();
  readonly logs: Logs;
  readonly metrics: Metrics;
  readonly writer: TelemetryWriter;
  readonly encodedWrites: EncodedWrites;
  readonly runs: Runs;
  readonly agents: Agents;
  readonly models: Models;
  readonly series: Series;
  readonly groups: RunGroups;
  readonly sessions: Sessions;
  readonly scores: Scores;
  readonly map: ServiceMap;
  readonly prompts: PromptRuns;
  readonly stats: AlertStats;
  readonly past: PastStats;
  readonly usage: Usage;
  readonly stored = new MeasuredBytes();
  readonly transfer: TelemetryTransfer;
  readonly #out: TransferOut;
  readonly #items: ItemWrites;
  readonly #runStore: RunStore;
  readonly #turns: ReadPool<ReadPermit>;
  readonly #readMetrics: ReadMetrics;
  readonly #sizes: StoreSizes;
  readonly #settings: Settings<unknown>;
  readonly #options: ClickHouseStoreOptions;
  readonly #owner = randomUUID();
  readonly #ends: (() => void)[] = [];
  #control: ControlStore | null = null;
  #id: string | null = null;
  #isReached = true;

  constructor(settings: Settings<unknown>, options: ClickHouseStoreOptions) {
    this.#settings = settings;
    this.#options = options;
    const { clock } = settings;
    const { stored } = this;
    const runStore = new RunStore(this.#handle, this.arrivals, options, {
      clock,
      stored,
      scores: async (...args) => {
        await this.#items.scores(...args);
      },
    });
    const items = new ItemWrites({
      handle: this.#handle,
      arrivals: this.arrivals,
      options,
      admit: async (...args) => await runStore.admit(...args),
      claim: async (...args) => await runStore.claim(...args),
      clock,
      stored,
      limitsOf: async (userId) => await runStore.limitsOf(userId),
      judge: async (tenant, { id, traceId, spanId, success, outcome, at: given }, at) => {
        const header = `${spanId ?? ''} ${given} ${id}`;
        const message = { kind: 'verdict', header, success, outcome } as const;
        await runStore.fill({ kind: 'message', tenant, traceId, at, message });
      },
      emitScores: async (...args) => {
        await runStore.emitScores(...args);
      },
    });
    this.#items = items;
    this.#runStore = runStore;
    this.writer = {
      traces: async (...args) => await runStore.traces(...args),
      metrics: async (...args) => await items.metrics(...args),
      logs: async (...args) => await items.logs(...args),
    };
    this.encodedWrites = {
      engine: 'clickhouse',
      traces: async (...args) => await runStore.encodedTraces(...args),
      metrics: async (...args) => await items.encodedMetrics(...args),
      logs: async (...args) => await items.encodedLogs(...args),
      watchLogListeners: (changed) => this.arrivals.watchLogListeners(changed),
    };
    this.#turns = openReadPermits(settings, options);
    this.#readMetrics = new ReadMetrics(settings.meter);
    this.#sizes = new StoreSizes(settings.meter, options.database);
    const { runs, agents, models, series, groups, sessions, scores, map, prompts, past } = runStore;
    const [logs, metrics] = [new LogReads(this.#handle), new MetricReads(this.#handle)];
    const reads = withFairReads(
      { runs, agents, models, series, groups, sessions, scores, map, prompts, past, logs, metrics },
      this.#turns,
    );
    this.runs = reads.runs;
    this.agents = reads.agents;
    this.models = reads.models;
    this.series = reads.series;
    this.groups = reads.groups;
    this.sessions = reads.sessions;
    this.scores = reads.scores;
    this.map = reads.map;
    this.prompts = reads.prompts;
    this.past = reads.past;
    this.logs = reads.logs;
    this.metrics = reads.metrics;
    this.stats = runStore.stats;
    this.usage = runStore.usage;
    const open = () => {
      const { connection } = this.#handle;
      if (this.#control === null || this.#id === null) throw notOpen();
      const { transfer, leases, writes } = this.#control;
      return {
        ...{ connection, control: transfer, leases, book: writes },
        ...{ store: this.#id, now: settings.clock.now() },
      };
    };
    this.#out = new TransferOut({
      open,
      options,
      finishLeft: async () => {
        await runStore.finishLeft();
      },
    });
    this.transfer = {
      out: this.#out,
      backup: null,
      in: new TransferIn({
        open,
        database: options.database,
        write: async (change) => {
          await runStore.fill(change);
        },
        items,
        timeOut: async (at) => await runStore.timeOut(at),
      }),
    };
  }

  /** @throws ClickHouseStoreError that names the location and the remedy */
  async start(host: Host): Promise<void> {
    const control = host.extension(this.#options.control, isControlStore);
    const { clock, logger } = this.#settings;
    const place = { database: this.#options.database, now: () => performance.now() };
    // The database may not exist before the migration.
    const maker = await Connection.open(this.#options, { ...place, database: null });
    try {
      const { leases } = control;
      const migrator = { owner: this.#owner, leases, control: await control.identity(), logger };
      this.#id = await migrate(maker, this.#options, MIGRATIONS, migrator);
    } catch (error) {
      throw this.#openError(error);
    } finally {
      await maker.close();
    }
    const connection = await Connection.open(this.#options, place);
    this.#control = control;
    this.#handle.open({ connection, tenants: new Tenants(control, clock) });
    this.#runStore.open(control, this.#id, this.#owner);
    this.stored.open({
      defaultLimit: host.userLimits.storedBytes,
      limitsOf: async (userId) => await this.#runStore.limitsOf(userId),
      measure: async () => await Promise.all([readStoredBytes(connection), control.accounts.storedBytes()]),
      clock,
      logger: this.#settings.logger,
    });
    this.#ends.push(
      // Not immediately: no run may time out if the store is opened only for an import or an export.
      repeat(
        this.#settings,
        { everyMs: UPKEEP_EVERY_MS, failed: 'Could not complete run maintenance; retrying.', isLater: true },
        async () => {
          await this.#runStore.runMaintenance();
        },
      ),
    );
    this.#ends.push(...this.#readMetrics.observe(), () => {
      this.#sizes.end();
    });
    this.#repeat(SIZES_EVERY_MS, 'Could not update the metrics of the tables.', async () => {
      await this.#sizes.update(connection);
    });
    this.#repeat(STATS_EVERY_MS, 'Could not update the metrics of reads.', async () => {
      this.#readMetrics.update(this.#turns.stats);
    });
    this.#repeat(LOOK_EVERY_MS, 'Could not check whether ClickHouse is reachable.', async () => {
      await this.#look(host, connection);
    });
    this.#repeat(FORGET_EVERY_MS, 'Could not remove old batch names; retrying.', async () => {
      await this.#runStore.forgetNames();
    });
    this.#repeat(RETENTION_EVERY_MS, 'Retention failed; retrying.', async () => {
      await this.#retain();
    });
  }

  async shutdown(deadline: AbortSignal): Promise<void> {
    for (const end of this.#ends.splice(0)) end();
    this.#turns.abortPending();
    await waitFor(this.#out.close(), deadline);
    await waitFor(
      Promise.all([this.#items.idle(), this.#runStore.idle()]).then(() => undefined),
      deadline,
    );
    this.stored.close();
    this.#runStore.close();
    const opened = this.#handle.close();
    opened?.tenants.close();
    await opened?.connection.close();
  }

  /** @returns the UUID assigned when the store was created; it never changes */
  async identity(): Promise<string> {
    if (this.#id !== null) return this.#id;
    throw notOpen();
  }

  /** Removes data past its retention and links to deleted prompts. Also runs every hour, in one process at a time. */
  async applyRetention(): Promise<void> {
    const { retention } = this.#options;
    const now = this.#settings.clock.now();
    const tables = {
      logs: [LOGS, LOGGED_EVENTS],
      metrics: [POINTS, METRICS],
      // Runs first: a read that misses spans looks whether its run is still there.
      traces: [RUNS, SPANS, MESSAGES, MAP_DAYS, SCORES],
    };
    for (const signal of ['logs', 'metrics', 'traces'] as const) {
      const days = retention[signal];
      if (days !== null)
        this.#sizes.kept.removed(
          await removeOldDays(this.#handle.connection, this.#options, tables[signal], days, now),
        );
    }
    if (this.#control !== null)
      await removeLinks(this.#handle.connection, this.#options, this.#control.prompts, now);
    await this.#sizes.update(this.#handle.connection);
  }

  async #retain(): Promise<void> {
    const leases = this.#control?.leases;
    const lease = await leases?.take(
      `clickhouse/${this.#id ?? ''}/retention`,
      this.#owner,
      RETENTION_LEASE_MS,
    );
    if (lease === undefined || lease === null) return;
    try {
      await this.applyRetention();
    } finally {
      await leases?.release(lease);
    }
  }

  /** Logs and reports when the store becomes unreachable and when it recovers. */
  async #look(host: Host, connection: Connection): Promise<void> {
    let healthIssue: string | null = null;
    try {
      await connection.rows('SELECT 1');
    } catch (error) {
      healthIssue = error instanceof Error ? error.message : String(error);
    }
    if (this.#isReached === (healthIssue === null) || this.#ends.length === 0) return;
    this.#isReached = healthIssue === null;
    if (healthIssue === null) {
      this.#settings.logger.info({}, 'ClickHouse is available again.');
      host.reportStatus({ level: 'ok' });
    } else {
      this.#settings.logger.error({ reason: healthIssue }, 'ClickHouse is unavailable; retrying.');
      host.reportStatus({ level: 'recoverable', message: `ClickHouse is unavailable: ${healthIssue}` });
    }
  }

  #repeat(everyMs: number, failed: string, work: () => Promise<void>): void {
    this.#ends.push(repeat(this.#settings, { everyMs, failed }, work));
  }

  #openError(error: unknown): unknown {
    if (!(error instanceof ConsumeError)) return error;
    const { urls, database } = this.#options;
    return new ClickHouseStoreError(
      `The database ${database} in ClickHouse at ${urls.join(', ')} cannot be opened: ${error.message}`,
      { cause: error },
    );
  }
}
