import type { Component } from '../../../component/component.js';
import { ConsumeError } from '../../../component/consume-error.js';
import type { ConsumeContext, Receipt } from '../../../component/consumer.js';
import type { Settings } from '../../../component/factory.js';
import type { Host } from '../../../component/host.js';
import type { LogsBatch, MetricsBatch, TracesBatch } from '../../../signal/batch.js';
import { endThread } from '../../../worker/end-thread.js';
import { repeat } from '../../../telemetry/repeat.js';
import { waitFor } from '../../../telemetry/wait-for.js';
import { writeNotice, type LogNotice } from '../../../worker/notice-logger.js';
import { plainError, type SpelledError } from '../../../worker/thread-protocol.js';
import { ThreadClient } from '../../../worker/thread-client.js';
import type { Micros } from '../../../signal/time.js';
import { isControlPlane, type ControlPlane } from '../../control-plane.js';
import type { FactIntake } from '../../fact-source.js';
import { BatchWrites, type Known } from './batch-writes.js';
import { CallOrder } from './call-order.js';
import { PromptNumbers } from './prompt-numbers.js';
import { FactReports, factsOf } from './store-facts.js';
import { revive } from './revive-error.js';
import type { StoreOptions } from '../engine/store-options.js';
import type { StoreFigures } from '../engine/store-figures.js';
import { StoreMetrics } from './store-metrics.js';
import { TelemetryClient } from './telemetry-client.js';
import { timeOutIdle } from './time-out-idle.js';
import { KnownUsers } from './user-terms.js';
import type { ObservationMethod } from '../engine/store-thread.js';
import type { CommitReport } from '../commits/writer.js';

export interface DuckDBStoreOptions extends Omit<StoreOptions, 'control'> {
  /** Id of the extension that is the control plane. */
  readonly control: string;
  /** Encoded batches that may wait for their commit, in bytes; more is refused as overloaded. */
  readonly maxQueueBytes: number;
}

const BEHIND =
  'Events of telemetry cannot be brought to the control store; they are kept, it is tried again, and the log says why.';
const FIGURES_EVERY_MS = 5000;
const RETENTION_EVERY_MS = 3_600_000;
/** How late a run may time out, at most. */
const IDLE_EVERY_MS = 5000;

/**
 * The embedded store as the rest of the daemon sees it: it turns batches into columns, hands them to the store thread,
 * and answers when they are committed.
 */
export class DuckDBStore extends TelemetryClient implements Component {
  readonly #settings: Settings<unknown>;
  readonly #options: DuckDBStoreOptions;
  readonly #metrics: StoreMetrics;
  readonly #writes: BatchWrites;
  readonly #ends: (() => void)[] = [];
  #thread: ThreadClient | null = null;
  #control: (Known & { readonly plane: ControlPlane }) | null = null;
  #id: string | null = null;
  #host: Host | null = null;
  #intake: FactIntake | null = null;
  #troubles: readonly string[] = [];
  /** Whether events of telemetry cannot be brought to the control plane. */
  #isBehind = false;

  constructor(settings: Settings<unknown>, options: DuckDBStoreOptions) {
    super();
    this.#settings = settings;
    this.#options = options;
    this.#metrics = new StoreMetrics(settings.meter);
    this.#writes = new BatchWrites(options.maxQueueBytes, this.#metrics, () => ({
      thread: this.#running(),
      known: this.known(),
    }));
  }

  /** @throws StoreOpenError with the file and the cure. */
  async start(host: Host): Promise<void> {
    this.#host = host;
    const plane = host.extension(this.#options.control, isControlPlane);
    const options: StoreOptions = { ...this.#options, control: await plane.identity() };
    const thread = new ThreadClient({
      module: new URL('../engine/store-thread.js', import.meta.url),
      name: 'jackdaw-store',
      workerData: options,
      revive,
      ended: (cause) => unavailable('The store is closed.', cause),
      onNotice: (notice, value) => {
        if (notice === 'died') this.#died(plainError(value as SpelledError), host);
        else this.#notice(notice, value);
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
      this.#id = await thread.call<string>('open', []);
    } catch (error) {
      await thread.close();
      throw error;
    }
    this.#thread = thread;
    const { clock } = this.#settings;
    const [users, prompts] = [new KnownUsers(plane, clock), new PromptNumbers(plane, clock)];
    this.#control = { plane, users, prompts, order: new CallOrder() };
    this.#ends.push(() => {
      users.close();
      prompts.close();
    });
    this.#ends.push(...this.#metrics.observe(() => this.#writes.queuedBytes));
    this.#intake = await this.#bringFacts(thread, plane, this.#id);
    this.#repeat(FIGURES_EVERY_MS, async () => {
      this.#metrics.update(await thread.call<StoreFigures>('figures', []));
    });
    this.#repeat(IDLE_EVERY_MS, async () => {
      await timeOutIdle(thread, { users, plane }, this.#settings.clock.now());
    });
    const { traceRetentionDays, metricRetentionDays, logRetentionDays, eventRetentionDays } = this.#options;
    const kept = [traceRetentionDays, metricRetentionDays, logRetentionDays, eventRetentionDays];
    if (kept.some((days) => days !== null)) {
      this.#repeat(RETENTION_EVERY_MS, async () => {
        await this.applyRetention();
      });
    }
  }

  async shutdown(deadline: AbortSignal): Promise<void> {
    for (const end of this.#ends.splice(0)) end();
    const stopped = this.#intake?.stop();
    if (stopped !== undefined) await waitFor(stopped, deadline);
    const thread = this.#thread;
    this.#thread = null;
    // A thread that has crashed was reported then, and there is nothing left to close.
    if (thread === null || thread.hasEnded) return;
    // Ending the thread in the middle of a statement would end the process.
    await endThread(thread, 'close', deadline);
  }

  /** @returns a UUID that the store was given when it was made, and keeps. */
  override async identity(): Promise<string> {
    if (this.#id === null) throw unavailable('The store is not open.');
    return this.#id;
  }

  async writeTraces(batch: TracesBatch, context: ConsumeContext): Promise<Receipt> {
    return await this.#writes.traces(batch, context);
  }

  async writeMetrics(batch: MetricsBatch, context: ConsumeContext): Promise<Receipt> {
    return await this.#writes.points(batch, context);
  }

  async writeLogs(batch: LogsBatch, context: ConsumeContext): Promise<Receipt> {
    return await this.#writes.logs(batch, context);
  }

  /** Waits until every sealed segment lies in the cold file. For tests and measurements. */
  async settled(): Promise<void> {
    await this.#running().call('settled', []);
  }

  /**
   * Removes what retention no longer keeps: telemetry, and events and firings from the control plane. It does so by itself every hour, too.
   */
  async applyRetention(): Promise<void> {
    const firstKept = await this.#running().call<Micros | null>('applyRetention', [
      this.#settings.clock.now(),
    ]);
    if (firstKept === null) return;
    const { events, alerts } = this.control();
    await events.removeBefore(firstKept);
    await alerts.removeBefore(firstKept);
  }

  protected override thread(): ThreadClient {
    return this.#running();
  }

  protected override known(): Known {
    if (this.#control === null) throw unavailable('The store is not open.');
    return this.#control;
  }

  protected override control(): ControlPlane {
    if (this.#control === null) throw unavailable('The store is not open.');
    return this.#control.plane;
  }

  protected override async observations<T>(method: ObservationMethod, ...args: unknown[]): Promise<T> {
    return await this.#running().call<T>('observations', [method, ...args]);
  }

  /** What is behind the mark that the log has is brought there at once, without a way through this thread. */
  async #bringFacts(thread: ThreadClient, plane: ControlPlane, id: string): Promise<FactIntake> {
    const { clock, logger } = this.#settings;
    const reports = new FactReports(logger, clock, (isFailing) => {
      this.#isBehind = isFailing;
      this.#tellStatus();
    });
    return await plane.takeFacts(factsOf(thread, id), reports);
  }

  #running(): ThreadClient {
    if (this.#thread === null) {
      throw unavailable('The store is not open.');
    }
    return this.#thread;
  }

  #notice(notice: string, value: unknown): void {
    if (notice === 'commit') {
      this.#metrics.committed(value as CommitReport);
    } else if (notice === 'troubles') {
      this.#troubles = value as readonly string[];
      this.#tellStatus();
    } else if (notice === 'log') {
      writeNotice(this.#settings.logger, value as LogNotice);
    }
  }

  #tellStatus(): void {
    const troubles = this.#isBehind ? [BEHIND, ...this.#troubles] : this.#troubles;
    this.#host?.reportStatus(
      troubles.length === 0 ? { level: 'ok' } : { level: 'degraded', message: troubles.join(' ') },
    );
  }

  /** Supervisors start the process anew, which is the only cure: what was acknowledged is in the files. */
  #died(error: Error, host: Host): void {
    this.#settings.logger.error(
      { err: error },
      'DuckDB has given up: an error of the disk, or one inside it. The files can be used again only by another process.',
    );
    host.reportStatus({
      level: 'fatal',
      message:
        'DuckDB has given up after an error of the disk, or one inside it; see the log, and that of the system. What was acknowledged is on disk: start again.',
    });
  }

  #repeat(everyMs: number, work: () => Promise<void>): void {
    const failed = 'A recurring task of the store failed.';
    this.#ends.push(repeat(this.#settings, { everyMs, failed }, work));
  }
}

function unavailable(message: string, cause?: unknown): ConsumeError {
  return new ConsumeError(message, {
    code: 'storage_unavailable',
    retryable: true,
    retryAfterMs: 5000,
    cause,
  });
}
