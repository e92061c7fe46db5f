import type { HealthIssue } from '../files/health-issues.js';
import type { Component } from '../../../component/component.js';
import type { Settings } from '../../../component/factory.js';
import type { Host } from '../../../component/host.js';
import { firstModule } from '../../../config/built-module.js';
import { endThread } from '../../../worker/end-thread.js';
import { repeat } from '../../../telemetry/repeat.js';
import { waitFor } from '../../../telemetry/wait-for.js';
import { writeNotice, type LogNotice } from '../../../worker/notice-logger.js';
import { plainError, type SerializedError } from '../../../worker/thread-protocol.js';
import { ThreadClient } from '../../../worker/thread-client.js';
import { isControlStore, type ControlStore } from '../../contracts/control-store.js';
import type { FactIntake, IntakeListener, FactPage } from '../../contracts/events.js';
import { MeasuredBytes } from '../../shared/measured-bytes.js';
import type { EncodedWrites } from '../../contracts/telemetry-writer.js';
import type { TelemetryStore } from '../../contracts/telemetry-store.js';
import type { Transferable } from '../../contracts/transfer.js';
import { BatchWrites } from './batch-writes.js';
import { CallOrder } from '../../shared/call-order.js';
import { PromptNumbers } from '../../shared/prompt-numbers.js';
import {
  alertStats,
  groupReads,
  logReads,
  mapReads,
  metricReads,
  promptRuns,
  readsOver,
  scoreReads,
  seriesReads,
} from './reads.js';
import { RunsClient } from './runs-client.js';
import type { StoreOptions } from '../thread/store-options.js';
import { StoreMetrics } from './store-metrics.js';
import { TransferClient } from './transfer-client.js';
import { StoreHandle } from './store-handle.js';
import { LocalChangeFeed } from '../../shared/local-change-feed.js';
import { KnownUsers } from '../../shared/store-user-limits.js';
import type { CommitReport } from '../write/writer.js';
import { notOpen, deserializeError, unavailable } from '../../contracts/errors.js';
import { StoreOpenError } from '../files/store-open-error.js';
import { MessageChannel } from 'node:worker_threads';
import type { Clock, Logger } from '../../../component/telemetry.js';
import { SparseLog } from '../../../telemetry/sparse-log.js';
import type { FactConnector } from '../../shared/outbox-port.js';
import type { EventType } from '../../../signal/event.js';
import type { Micros } from '../../../signal/time.js';

/** The facts of a store thread as an outbox source. @param storeId identifies it among all sources */
function factsOf(thread: ThreadClient, storeId: string): FactConnector {
  return {
    name: sourceOf(storeId),
    readFacts: (mark, limit, abort) => thread.call<FactPage>('readFacts', [mark, limit], { abort }),
    connectFacts: async () => {
      const { port1, port2 } = new MessageChannel();
      await thread.call('connectFacts', [port1], { transfer: [port1] });
      return port2;
    },
  };
}

/** The name of a store among all outbox sources. */
function sourceOf(storeId: string): string {
  return `duckdb/${storeId}`;
}

/** Reports and logs whether facts can be copied to the event log. */
class FactReports implements IntakeListener {
  readonly #logger: Logger;
  readonly #log: SparseLog;
  readonly #onFailing: (isFailing: boolean) => void;
  #isFailing = false;

  /** @param onFailing called when facts cannot be relayed, and when they can again */
  constructor(logger: Logger, clock: Clock, onFailing: (isFailing: boolean) => void) {
    this.#logger = logger;
    this.#log = new SparseLog(logger, clock);
    this.#onFailing = onFailing;
  }

  failing(error: Error | null): void {
    if (error !== null)
      this.#log.warn(0, { err: error }, 'Could not copy telemetry events to the event log; retrying');
    const isFailing = error !== null;
    if (isFailing === this.#isFailing) return;
    this.#isFailing = isFailing;
    this.#onFailing(isFailing);
  }

  passedOver(events: number): void {
    this.#logger.error({ events }, 'Skipped events for unknown users');
  }
}

export interface DuckDBStoreOptions extends Omit<StoreOptions, 'control'> {
  /** Id of the extension that is the control store. */
  readonly control: string;
  /** Encoded batches that may wait for their commit, in bytes; more is refused as overloaded. */
  readonly maxQueueBytes: number;
}

const BEHIND = 'Cannot copy telemetry events to the control store; they are kept. Retrying (see log).';
const STATS_EVERY_MS = 5000;
const RETENTION_EVERY_MS = 3_600_000;
const OLDEST_EVERY_MS = 300_000;
/** Interval of the check for idle runs, and so the longest delay of a time-out. */
const IDLE_EVERY_MS = 5000;

/**
 * The embedded store for the rest of the daemon: it encodes batches into columns, sends them to the store thread, and answers
 * after the commit.
 */
export class DuckDBStore implements Component, TelemetryStore, Transferable {
  readonly #handle = new StoreHandle();
  readonly arrivals = new LocalChangeFeed();
  readonly runs = new RunsClient(this.#handle, this.arrivals);
  readonly agents = readsOver(this.#handle, 'agents', {});
  readonly models = readsOver(this.#handle, 'models', {});
  readonly series = seriesReads(this.#handle);
  readonly groups = groupReads(this.#handle);
  readonly sessions = readsOver(this.#handle, 'sessions', {});
  readonly scores = scoreReads(this.#handle);
  readonly metrics = metricReads(this.#handle);
  readonly logs = logReads(this.#handle);
  readonly map = mapReads(this.#handle);
  readonly prompts = promptRuns(this.#handle);
  readonly stats = alertStats(this.#handle);
  readonly past = readsOver(this.#handle, 'past', {});
  readonly usage = readsOver(this.#handle, 'usage', {});
  readonly transfer = new TransferClient(this.#handle, () => sourceOf(this.#id ?? ''));
  readonly stored = new MeasuredBytes();
  readonly writer: BatchWrites;
  readonly encodedWrites: EncodedWrites;
  readonly #settings: Settings<unknown>;
  readonly #options: DuckDBStoreOptions;
  readonly #metrics: StoreMetrics;
  readonly #ends: (() => void)[] = [];
  #thread: ThreadClient | null = null;
  #id: string | null = null;
  #host: Host | null = null;
  #intake: FactIntake | null = null;
  #healthIssues: readonly HealthIssue[] = [];
  /** Whether telemetry events cannot be copied to the control store. */
  #isBehind = false;

  constructor(settings: Settings<unknown>, options: DuckDBStoreOptions) {
    this.#settings = settings;
    this.#options = options;
    this.#metrics = new StoreMetrics(settings.meter);
    this.writer = new BatchWrites(options.maxQueueBytes, this.#metrics, this.#handle, this);
    this.encodedWrites = this.writer.encoded;
  }

  /** @throws StoreOpenError with the file and the remedy. */
  async start(host: Host): Promise<void> {
    this.#host = host;
    const control = host.extension(this.#options.control, isControlStore);
    const options: StoreOptions = { ...this.#options, control: await control.identity() };
    const thread = new ThreadClient({
      module: firstModule(new URL('../thread/store-thread.js', import.meta.url)),
      name: 'jackdaw-store',
      workerData: options,
      deserializeError: toStoreError,
      ended: (cause) => unavailable('The store is closed.', cause),
      onNotice: (notice, value) => {
        if (notice === 'died') this.#died(plainError(value as SerializedError), host);
        else this.#notice(notice, value);
      },
      onCrash: (error) => {
        this.#settings.logger.error({ err: error }, 'The store thread ended.');
        host.reportStatus({
          level: 'fatal',
          message: 'The store thread ended; see the log. Acknowledged data is on disk.',
        });
      },
    });
    try {
      this.#id = await thread.call<string>('open', []);
    } catch (error) {
      await thread.close();
      throw error;
    }
    this.#thread = thread;
    const { clock } = this.#settings;
    const [users, prompts] = [new KnownUsers(control, clock), new PromptNumbers(control, clock)];
    this.#handle.open({ thread, known: { users, prompts, order: new CallOrder() }, control });
    this.stored.open({
      defaultLimit: host.userLimits.storedBytes,
      limitsOf: (userId) => users.known(userId) ?? users.find(userId),
      measure: async () =>
        await Promise.all([this.#handle.call('storedBytes'), control.accounts.storedBytes()]),
      clock,
      logger: this.#settings.logger,
    });
    this.#ends.push(() => {
      this.stored.close();
      users.close();
      prompts.close();
    });
    this.#ends.push(...this.#metrics.observe(() => this.writer.queuedBytes, this.#options.path));
    this.#intake = await this.#bringFacts(thread, control, this.#id);
    this.#repeat(STATS_EVERY_MS, async () => {
      this.#metrics.update(await this.#handle.call('stats'));
    });
    // Delayed, so that this read does not hold up the first requests.
    this.#repeat(OLDEST_EVERY_MS, () => this.#showOldest(), true);
    this.#repeat(IDLE_EVERY_MS, async () => {
      const parts = { users, control, arrivals: this.arrivals };
      await timeOutIdle(this.#handle, parts, this.#settings.clock.now());
    });
    this.#repeat(RETENTION_EVERY_MS, async () => {
      await this.applyRetention();
    });
  }

  async shutdown(deadline: AbortSignal): Promise<void> {
    for (const end of this.#ends.splice(0)) end();
    const stopped = this.#intake?.stop();
    if (stopped !== undefined) await waitFor(stopped, deadline);
    await waitFor(this.#handle.sent(), deadline);
    const thread = this.#thread;
    this.#thread = null;
    this.#handle.close();
    // A thread that has crashed was reported then, and there is nothing left to close.
    if (thread === null || thread.hasEnded) return;
    // Ending the thread in the middle of a statement would end the process.
    await endThread(thread, 'close', deadline);
  }

  /** @returns the UUID that the store got when it was created */
  async identity(): Promise<string> {
    if (this.#id === null) throw notOpen();
    return this.#id;
  }

  /** Waits until every sealed segment is in the cold file. For tests and measurements. */
  async settled(): Promise<void> {
    await this.#handle.opened.thread.call('settled', []);
  }

  /**
   * Removes telemetry older than retention and links to deleted prompts, and old events and firings of the control store. Also
   * runs automatically every hour.
   */
  async applyRetention(): Promise<void> {
    const { control } = this.#handle.opened;
    const deleted = await control.prompts.findDeleted(await this.#handle.call('linkedPrompts'));
    const now = this.#settings.clock.now();
    const firstKept = await this.#handle.call('applyRetention', now, deleted);
    await this.#showOldest();
    if (firstKept === null) return;
    const { events, alerts } = control;
    await events.removeBefore(firstKept);
    await alerts.removeBefore(firstKept);
  }

  /** Relays facts after the event log's mark directly from the store thread to the control store, bypassing this thread. */
  async #bringFacts(thread: ThreadClient, control: ControlStore, id: string): Promise<FactIntake> {
    const { clock, logger } = this.#settings;
    const reports = new FactReports(logger, clock, (isFailing) => {
      this.#isBehind = isFailing;
      this.#reportStatus();
    });
    return await control.takeFacts(factsOf(thread, id), reports);
  }

  #notice(notice: string, value: unknown): void {
    if (notice === 'commit') {
      this.#metrics.committed(value as CommitReport);
    } else if (notice === 'healthIssues') {
      this.#healthIssues = value as readonly HealthIssue[];
      this.#reportStatus();
    } else if (notice === 'log') {
      writeNotice(this.#settings.logger, value as LogNotice);
    }
  }

  #reportStatus(): void {
    const messages = [
      ...(this.#isBehind ? [BEHIND] : []),
      ...this.#healthIssues.map(({ message }) => message),
    ];
    const level = this.#healthIssues.some((one) => one.level === 'recoverable') ? 'recoverable' : 'degraded';
    this.#host?.reportStatus(
      messages.length === 0 ? { level: 'ok' } : { level, message: messages.join(' ') },
    );
  }

  /** Only a new process can reopen the files; supervisors restart it. Acknowledged data is in the files. */
  #died(error: Error, host: Host): void {
    this.#settings.logger.error(
      { err: error },
      'DuckDB stopped after a disk or internal error. Restart the process to reopen the files.',
    );
    host.reportStatus({
      level: 'fatal',
      message:
        'DuckDB stopped after a disk or internal error; see the log and the system log. Acknowledged data is on disk: restart the daemon.',
    });
  }

  async #showOldest(): Promise<void> {
    this.#metrics.kept.update(await this.#handle.call('oldest'));
  }

  #repeat(everyMs: number, work: () => Promise<void>, isLater = false): void {
    const failed = 'A recurring task of the store failed.';
    this.#ends.push(repeat(this.#settings, { everyMs, failed, isLater }, work));
  }
}

/** Deserializes an error of the store thread. */
function toStoreError(error: SerializedError): Error {
  return deserializeError(error, { StoreOpenError });
}

/** A page of idle runs may name new tenants; after this many rounds the next run of the task continues. */
const MOST_ROUNDS = 20;

/** Marks idle runs as timed out. The store thread first returns the tenants for which it does not know the wanted events. */
async function timeOutIdle(
  handle: Pick<StoreHandle, 'call'>,
  {
    users,
    control,
    arrivals,
  }: {
    readonly users: KnownUsers;
    readonly control: Pick<ControlStore, 'accounts'>;
    /** Receives the ended runs. */
    readonly arrivals: Pick<LocalChangeFeed, 'traceChanged'>;
  },
  now: Micros,
): Promise<void> {
  const ids = new Map<number, string>();
  const wanted = new Map<number, readonly EventType[]>();
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const { unknown, ended } = await handle.call('timeOutIdle', now, wanted);
    for (const { tenant, traceId } of ended) {
      const id = ids.get(tenant);
      if (id !== undefined) arrivals.traceChanged(id, traceId);
    }
    if (unknown.length === 0) return;
    const found = await control.accounts.findTenants(unknown);
    for (const tenant of unknown) {
      const id = found.get(tenant);
      if (id !== undefined) ids.set(tenant, id);
      wanted.set(tenant, id === undefined ? [] : (await users.find(id)).wanted);
    }
  }
}
