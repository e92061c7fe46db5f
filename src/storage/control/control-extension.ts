import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { Component } from '../../component/component.js';
import type { Settings } from '../../component/factory.js';
import type { Host } from '../../component/host.js';
import { firstModule } from '../../config/built-module.js';
import { repeat } from '../../telemetry/repeat.js';
import { endThread } from '../../worker/end-thread.js';
import type { CallOptions } from '../../worker/port-client.js';
import { writeNotice, type LogNotice } from '../../worker/notice-logger.js';
import { ThreadClient } from '../../worker/thread-client.js';
import type { ControlConnector } from '../contracts/control-store.js';
import { deserializeError, unavailable } from '../contracts/errors.js';
import type { ControlOptions } from './control-options.js';
import { ControlStoreError } from './control-store-error.js';
import { ControlClient } from './control-client.js';

const SIZE_EVERY_MS = 60_000;

/** The control store for the main thread: calls are sent to the control thread. */
export class ControlExtension extends ControlClient implements ControlConnector, Component {
  readonly #settings: Pick<Settings<unknown>, 'logger' | 'meter' | 'clock'>;
  readonly #options: ControlOptions;
  #thread: ThreadClient | null = null;
  #directory: string | null = null;
  #endSize: () => void = () => undefined;

  constructor(settings: Pick<Settings<unknown>, 'logger' | 'meter' | 'clock'>, options: ControlOptions) {
    super();
    this.#settings = settings;
    this.#options = options;
  }

  /** @throws ControlStoreError with the location and the remedy */
  async start(host: Host): Promise<void> {
    const thread = new ThreadClient({
      module: firstModule(new URL('./control-thread.js', import.meta.url)),
      name: 'jackdaw-control',
      workerData: this.#options,
      deserializeError: (error) => deserializeError(error, { ControlStoreError }),
      ended: (cause) => unavailable('The control store is closed.', cause),
      onNotice: (notice, value) => {
        this.#notice(host, notice, value);
      },
      onCrash: (error) => {
        this.#settings.logger.error({ err: error }, 'The control thread ended.');
        host.reportStatus({
          level: 'fatal',
          message: 'The control thread ended; see the log. Acknowledged data is kept.',
        });
      },
    });
    try {
      this.#directory = await thread.call<string | null>('open', []);
    } catch (error) {
      await thread.close();
      throw error;
    }
    this.#thread = thread;
    this.#showSize(thread);
  }

  async shutdown(deadline: AbortSignal): Promise<void> {
    this.#endSize();
    const thread = this.#thread;
    this.#thread = null;
    // The crash of the thread was already reported, and there is nothing to close.
    if (thread === null || thread.hasEnded) return;
    await endThread(thread, 'close', deadline);
  }

  override get directory(): string | null {
    return this.#directory;
  }

  async connect(): Promise<MessagePort> {
    const { port1, port2 } = new MessageChannel();
    await this.#running().call('connect', [port1], { transfer: [port1] });
    return port2;
  }

  protected override async call<Result>(
    method: string,
    args: readonly unknown[],
    options?: CallOptions,
  ): Promise<Result> {
    return await this.#running().call<Result>(method, args, options);
  }

  #showSize(thread: ThreadClient): void {
    const description =
      'Size of the control store: the SQLite file with its log, or the PostgreSQL database.';
    let bytes = NaN;
    const endGauge = this.#settings.meter.gauge('control_store_bytes', { description }, () => bytes);
    const failed = 'Could not read the size of the control store.';
    const endRepeat = repeat(this.#settings, { everyMs: SIZE_EVERY_MS, failed }, async () => {
      bytes = await thread.call<number>('size', []);
    });
    this.#endSize = () => {
      endRepeat();
      endGauge();
    };
  }

  #running(): ThreadClient {
    if (this.#thread === null) throw unavailable('The control store is not open.');
    return this.#thread;
  }

  #notice(host: Host, notice: string, value: unknown): void {
    if (this.handleNotice(notice, value)) return;
    if (notice === 'log') writeNotice(this.#settings.logger, value as LogNotice);
    else if (notice === 'reach') this.#reached(host, value as string | null);
  }

  #reached(host: Host, healthIssue: string | null): void {
    if (healthIssue === null) {
      this.#settings.logger.info({}, 'The control store is available again.');
      host.reportStatus({ level: 'ok' });
      return;
    }
    if (this.#options.engine === 'sqlite') {
      // Reads and authentication still work.
      host.reportStatus({ level: 'degraded', message: healthIssue });
      return;
    }
    this.#settings.logger.error({ reason: healthIssue }, 'The control store is unavailable; retrying.');
    host.reportStatus({ level: 'recoverable', message: `The control store is unavailable: ${healthIssue}` });
  }
}
