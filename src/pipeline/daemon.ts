import { Authenticator } from '../auth/authenticator.js';
import { SecretBoxes } from '../auth/secret-boxes.js';
import type { DaemonHealth } from '../component/daemon-health.js';
import type { Clock, Logger } from '../component/telemetry.js';
import type { Config } from '../config/config.js';
import { durationMs } from '../config/duration.js';
import { pause } from '../telemetry/pause.js';
import type { PrometheusMeter } from '../telemetry/meter.js';
import { buildPipelines, type Built, type BuildTools } from './build.js';
import { Deadline } from './deadline.js';
import { daemonView } from './daemon-view.js';
import { createHost } from './host.js';
import { IntakeThreads } from './intake/intake-threads.js';
import { Placements } from './intake/placements.js';
import { Lifecycle } from './lifecycle.js';
import { Listeners } from './listeners.js';
import { serveMetrics } from './metrics-route.js';
import { exclusivePaths, removeOwners, writeOwners } from './owner-files.js';
import type { Prepared } from './prepare.js';
import { assertPortsFree } from './probe.js';
import { Reloading, type ReloadReport } from './reloading.js';
import type { UserRates } from '../http/user-rates.js';
import { userRates } from './user-limits.js';
import { observeStates, StatusBoard, type Fatality } from './status.js';

export interface DaemonOptions {
  readonly prepared: Prepared;
  readonly logger: Logger;
  readonly meter: PrometheusMeter;
  readonly clock: Clock;
  /**
   * Absolute paths of the configuration files, so that `jackdaw validate` works next to a running daemon. If absent, no owner
   * files are written.
   */
  readonly configFiles?: readonly string[];
  /** Cancels the start; components that have started are then stopped. */
  readonly abort?: AbortSignal;
}

/** How a daemon ended. */
export interface StopReport {
  /** The component that stopped the daemon, if any. */
  readonly fatality: Fatality | undefined;
  /** Errors of the shutdown. */
  readonly errors: readonly Error[];
}

/** A running daemon. */
export interface Daemon {
  /** Configured endpoint → real `http://host:port` or `grpc://host:port`. */
  readonly addresses: ReadonlyMap<string, string>;
  /** Real address → the paths served there. */
  readonly paths: ReadonlyMap<string, readonly string[]>;
  /** The file with the first API key, if it still exists. */
  readonly initialKeyFile: string | null;
  /** Resolves when everything has stopped, for any reason. */
  readonly stopped: Promise<StopReport>;
  health(): DaemonHealth;
  /**
   * A single-use login link for a browser, with the first API key. Show it only to the user who started the daemon.
   *
   * @returns null if there are no pages or no such key
   */
  loginLink(): Promise<string | null>;
  /**
   * Reloads changed secrets and certificates.
   *
   * @param config the configuration with the current secrets; absent: the last one given
   */
  reload(config?: Config): Promise<ReloadReport>;
  /** Stops components in the order of the data flow, within `service.shutdown_timeout`. May be called twice; never rejects. */
  shutdown(): Promise<StopReport>;
}

/**
 * Builds and starts everything, and opens the listeners when all components run.
 *
 * @throws ConfigError if a component refuses its configuration
 * @throws Error if something could not start; components already started are stopped again
 */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const built = buildPipelines(options.prepared.plan, options);
  await assertPortsFree(options.prepared.claims);
  const daemon = new RunningDaemon(built, options);
  await daemon.start();
  return daemon;
}

/** Exists if there are pages. */
const LOGIN_PATH = '/login';

class RunningDaemon implements Daemon {
  readonly stopped: Promise<StopReport>;
  readonly #built: Built;
  readonly #options: DaemonOptions;
  readonly #status: StatusBoard;
  readonly #identity: Authenticator;
  readonly #users: UserRates;
  readonly #listeners: Listeners;
  readonly #lifecycle: Lifecycle;
  readonly #intake: IntakeThreads;
  readonly #reloading: Reloading;
  readonly #startAbort = new AbortController();
  #isStarted = false;
  #resolveStopped: (report: StopReport) => void = () => undefined;
  #shutdown: Promise<StopReport> | undefined;

  constructor(built: Built, options: DaemonOptions) {
    const tools: BuildTools = options;
    this.stopped = new Promise((resolve) => (this.#resolveStopped = resolve));
    this.#built = built;
    this.#options = options;
    const nodes = [...built.receivers, ...built.processors.flat(), ...built.exporters, ...built.extensions];
    this.#status = new StatusBoard(nodes, () => {
      // During the start, start() itself notices and cleans up.
      if (this.#isStarted) void this.shutdown();
      else this.#startAbort.abort();
    });
    observeStates(options.meter, () => this.#status.health());
    this.#identity = new Authenticator(options.prepared.config.auth, options);
    this.#users = userRates(options.prepared.config.service.user_limits, tools);
    this.#listeners = new Listeners(tools, options.prepared.config, this.#users, (request) => {
      this.#identity.authenticate(request);
    });
    this.#reloading = new Reloading(built, this.#listeners, options.prepared.config);
    this.#lifecycle = new Lifecycle(built, this.#status);
    const { config, plan } = options.prepared;
    const intake = config.service.intake;
    this.#intake = new IntakeThreads({ placements: new Placements(plan), config: intake, tools, built });
  }

  get addresses(): ReadonlyMap<string, string> {
    return this.#listeners.addresses;
  }

  get paths(): ReadonlyMap<string, readonly string[]> {
    return this.#listeners.paths;
  }

  get initialKeyFile(): string | null {
    return this.#identity.initialKeyFile;
  }

  health(): DaemonHealth {
    return this.#status.health();
  }

  async loginLink(): Promise<string | null> {
    const address = this.#listeners.addressOf(LOGIN_PATH);
    return address === undefined ? null : await this.#identity.loginLink(address);
  }

  async start(): Promise<void> {
    const { abort } = this.#options;
    const giveUp = (): void => {
      this.#startAbort.abort();
    };
    if (abort?.aborted) giveUp();
    abort?.addEventListener('abort', giveUp);
    try {
      await this.#startAll();
    } catch (error) {
      const { errors } = await this.shutdown();
      for (const problem of errors)
        this.#options.logger.error({ err: problem }, 'Shutdown after the failed start had errors');
      throw error;
    } finally {
      abort?.removeEventListener('abort', giveUp);
    }
  }

  async reload(config?: Config): Promise<ReloadReport> {
    return await this.#reloading.reload(config);
  }

  shutdown(): Promise<StopReport> {
    this.#shutdown ??= this.#stop();
    return this.#shutdown;
  }

  async #startAll(): Promise<void> {
    const { prepared, meter, clock } = this.#options;
    const starting = this.#intake.start();
    // Awaited below; a failure of a component comes first.
    starting.catch(() => undefined);
    const parts = {
      intake: this.#intake,
      extensions: this.#built.extensions,
      listeners: this.#listeners,
      identity: this.#identity,
      userLimits: this.#users,
      rejections: this.#built.rejections,
      prices: this.#built.prices,
      secretBoxes: new SecretBoxes(prepared.config.secretKeeping),
      smtp: prepared.config.smtp,
      status: this.#status,
      daemon: daemonView(prepared, this.#built.edges, clock, this.#intake.placements),
    };
    await this.#lifecycle.start(
      (node) => createHost(node, parts),
      async (node) => {
        if (node.kind === 'extension') await this.#identity.offer(node.component);
      },
      this.#startAbort.signal,
    );
    this.#throwIfGivenUp();
    await starting;
    if (this.#listeners.hasGuardedRoutes() && !this.#identity.isOpen)
      throw new Error('The API needs a control store: add one (sqlite, postgres) to service.extensions');
    const { endpoint } = prepared.config.service.telemetry.metrics;
    if (endpoint !== null && endpoint !== '') serveMetrics(this.#listeners.get(endpoint, {}, false), meter);
    await this.#listeners.open();
    this.#throwIfGivenUp();
    await this.#identity.bootstrap();
    this.#throwIfGivenUp();
    this.#isStarted = true;
    this.#writeOwners();
    this.#status.phase = 'running';
  }

  #writeOwners(): void {
    const { prepared, configFiles, logger } = this.#options;
    if (configFiles === undefined) return;
    const endpoints = [...this.#listeners.addresses.keys()];
    writeOwners(
      exclusivePaths(prepared.claims),
      { pid: process.pid, config: configFiles, endpoints },
      logger,
    );
  }

  #throwIfGivenUp(): void {
    const { fatality } = this.#status;
    if (fatality) throw new Error(`${fatality.component} is not usable: ${fatality.message}`);
    if (this.#startAbort.signal.aborted) throw new Error('Stopped before the start was complete');
  }

  async #stop(): Promise<StopReport> {
    const { prepared, clock, logger } = this.#options;
    const { shutdown_delay, shutdown_timeout } = prepared.config.service;
    this.#status.phase = 'stopping';
    if (this.#isStarted && !this.#status.fatality && durationMs(shutdown_delay) > 0) {
      // Load balancers notice that it is not ready before connections are refused.
      logger.info({ shutdown_delay }, 'No longer ready; listeners stay open for service.shutdown_delay');
      await pause(clock, durationMs(shutdown_delay));
    }
    const deadline = new Deadline(durationMs(shutdown_timeout), clock);
    const errors: Error[] = [];
    logger.info({ in_flight: this.#built.gate.inside }, 'Stopping: new requests are refused');
    this.#listeners.drainIngestion();
    // While the locks are still held, an owner file cannot be that of the next process.
    if (this.#isStarted && this.#options.configFiles !== undefined)
      removeOwners(exclusivePaths(prepared.claims));
    errors.push(...(await this.#lifecycle.stopPipelines(deadline)));
    await this.#intake.close();
    // Extensions are still needed for reads and for responses to completed work.
    errors.push(...(await this.#listeners.close(deadline)));
    try {
      await deadline.wait(() => this.#identity.close(), 'authentication');
    } catch (error) {
      errors.push(error instanceof Error ? error : new Error(String(error)));
    }
    errors.push(...(await this.#lifecycle.stopExtensions(deadline)));
    deadline.cancel();
    this.#status.phase = 'stopped';
    const report = { fatality: this.#status.fatality, errors };
    this.#resolveStopped(report);
    return report;
  }
}
