import { Authenticator } from '../auth/authenticator.js';
import { SecretBoxes } from '../auth/secret-boxes.js';
import type { DaemonHealth } from '../component/daemon-health.js';
import type { ReloadReport } from '../component/daemon-view.js';
import type { Host } from '../component/host.js';
import type { Clock } from '../component/telemetry.js';
import type { Config } from '../config/config.js';
import { durationMs } from '../config/duration.js';
import { intakeThreads } from '../config/memory.js';
import { pause } from '../telemetry/pause.js';
import type { PrometheusMeter } from '../telemetry/meter.js';
import type { ForwardingLogger } from '../telemetry/own/own-telemetry.js';
import { buildPipelines, type Built, type BuildTools } from './build.js';
import { Deadline } from './deadline.js';
import { daemonView } from './daemon-view.js';
import { createHost, type HostParts } from './host.js';
import { IntakeThreads } from './intake/intake-threads.js';
import { Lifecycle } from './lifecycle.js';
import { Listeners } from './listeners.js';
import { exclusivePaths, removeOwners, writeOwners } from './owner-files.js';
import type { Node } from './node.js';
import { DaemonTelemetry } from './own-telemetry.js';
import type { Prepared } from './prepare.js';
import { assertPortsFree } from './probe.js';
import { Reloading } from './reloading.js';
import { ReloadMetrics, hashOf, logReload } from './reload-report.js';
import type { Claim } from './resources.js';
import type { UserRates } from '../http/user-rates.js';
import { ratesOf, userRates } from './user-limits.js';
import { TracedStores } from './traced-stores.js';
import { observeStates, StatusBoard, type Fatality } from './status.js';
import type { Listener } from '../component/http.js';

export interface DaemonOptions {
  readonly prepared: Prepared;
  readonly logger: ForwardingLogger;
  readonly meter: PrometheusMeter;
  readonly clock: Clock;
  /**
   * Absolute paths of the configuration files and folders, so that `jackdaw validate` works next to a running daemon. If absent, no owner
   * files are written.
   */
  readonly configFiles?: readonly string[];
  /** Applies changes of the configuration; absent if it cannot be read again. */
  readonly reload?: ReloadSource;
  /** Cancels the start; components that have started are then stopped. */
  readonly abort?: AbortSignal;
}

/** Where a running daemon gets its configuration from. */
interface ReloadSource {
  /**
   * Reads and checks the configuration.
   *
   * @param inUse what this daemon uses
   * @throws ConfigError
   */
  read(inUse: readonly Claim[]): Promise<Prepared>;
  /** Called when a configuration was applied: for what is not part of the daemon, such as the level of the log. */
  applied(config: Config): void;
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
  /** Reads the configuration again and applies it, or changes nothing; logs the outcome. Never rejects. */
  reload(): Promise<ReloadReport>;
  /** The configuration that runs. */
  prepared(): Prepared;
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
  const { plan, claims, config } = options.prepared;
  const own = await DaemonTelemetry.open(config.service.telemetry.otlp, options);
  try {
    const tools: BuildTools = { ...options, tracer: own?.tracer };
    const built = buildPipelines(plan, tools);
    await assertPortsFree(claims);
    const daemon = new RunningDaemon(built, options, { tools, own });
    await daemon.start();
    return daemon;
  } catch (error) {
    await own?.close(AbortSignal.abort());
    throw error;
  }
}

/** Exists if there are pages. */
const LOGIN_PATH = '/login';

interface OwnParts {
  readonly tools: BuildTools;
  readonly own: DaemonTelemetry | undefined;
}

class RunningDaemon implements Daemon {
  readonly stopped: Promise<StopReport>;
  readonly #own: DaemonTelemetry | undefined;
  readonly #tracedStores: TracedStores | undefined;
  readonly #built: Built;
  #endStates: () => void;
  readonly #options: DaemonOptions;
  readonly #status: StatusBoard;
  readonly #identity: Authenticator;
  readonly #users: UserRates;
  readonly #listeners: Listeners;
  readonly #lifecycle: Lifecycle;
  readonly #intake: IntakeThreads;
  readonly #reloading: Reloading;
  readonly #reloads: ReloadMetrics;
  /** Configurations that run or have run. */
  readonly #known: WeakSet<Prepared>;
  readonly #secretBoxes: SecretBoxes;
  readonly #startAbort = new AbortController();
  #isStarted = false;
  #resolveStopped: (report: StopReport) => void = () => undefined;
  #shutdown: Promise<StopReport> | undefined;
  /** A reload that has not read the files yet. */
  #nextReload: Promise<ReloadReport> | undefined;

  constructor(built: Built, options: DaemonOptions, { tools, own }: OwnParts) {
    this.#own = own;
    this.#tracedStores = tools.tracer && new TracedStores(tools.tracer);
    this.stopped = new Promise((resolve) => (this.#resolveStopped = resolve));
    this.#built = built;
    this.#options = options;
    this.#known = new WeakSet([options.prepared]);
    const nodes = [...built.receivers, ...built.processors.flat(), ...built.exporters, ...built.extensions];
    this.#status = new StatusBoard(nodes, () => {
      // During the start, start() itself notices and cleans up.
      if (this.#isStarted) void this.shutdown();
      else this.#startAbort.abort();
    });
    this.#endStates = observeStates(options.meter, () => this.#status.health());
    this.#identity = new Authenticator(options.prepared.config.auth, options);
    this.#users = userRates(options.prepared.config.service.user_limits, tools);
    this.#listeners = new Listeners(tools, options.prepared.config, this.#users, (request) => {
      this.#identity.authenticate(request);
    });
    this.#lifecycle = new Lifecycle(built, this.#status);
    this.#secretBoxes = new SecretBoxes(options.prepared.config.secretKeeping);
    const { config, plan } = options.prepared;
    const { threads, max_task_time } = config.service.intake;
    this.#intake = new IntakeThreads(plan, nodes, {
      config: { threads: intakeThreads(threads), max_task_time },
      tools,
      built,
    });
    this.#reloads = new ReloadMetrics(options.meter, options.clock, hashOf(options.prepared));
    this.#reloading = new Reloading(built, options.prepared, {
      tools,
      status: this.#status,
      lifecycle: this.#lifecycle,
      listeners: this.#listeners,
      ownTelemetry: own,
      intake: this.#intake,
      hostOf: (node, next, prepared) => this.#hostOf(node, next, prepared),
      applied: (prepared) => {
        this.#applied(prepared);
      },
      removed: (kind, id) => options.meter.forget(kind, id),
    });
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

  prepared(): Prepared {
    return this.#reloading.prepared;
  }

  /** Requests that arrive before the files are read share one reload. */
  reload(): Promise<ReloadReport> {
    this.#nextReload ??= this.#reload();
    return this.#nextReload;
  }

  async #reload(): Promise<ReloadReport> {
    const { reload: source, logger, clock } = this.#options;
    let begun = clock.now();
    const outcome = await this.#reloading.reload(async () => {
      this.#nextReload = undefined;
      begun = clock.now();
      if (source === undefined || !this.#isStarted || this.#shutdown !== undefined)
        throw new Error(
          'the daemon is starting or stopping, or has no configuration that it could read again',
        );
      return source.read(this.prepared().claims);
    });
    const durationMs = (clock.now() - begun) / 1000;
    const report = { ...outcome, configHash: hashOf(this.prepared()), durationMs };
    this.#reloads.note(report);
    logReload(report, logger);
    return report;
  }

  /** In the step that exchanges the components. */
  #applied(prepared: Prepared): void {
    const { config } = prepared;
    const { meter, reload } = this.#options;
    this.#known.add(prepared);
    this.#endStates();
    this.#endStates = observeStates(meter, () => this.#status.health());
    this.#users.use(ratesOf(config.service.user_limits));
    reload?.applied(config);
    this.#writeOwners();
  }

  #hostOf(node: Node, built: Built, prepared: Prepared): Host {
    const { clock, reload } = this.#options;
    const now = (): Prepared => (this.#known.has(prepared) ? this.prepared() : prepared);
    const parts: HostParts = {
      intake: this.#intake,
      tracedStores: this.#tracedStores,
      extensions: built.extensions,
      listeners: this.#listeners,
      identity: this.#identity,
      userLimits: this.#users,
      rejections: built.rejections,
      prices: built.prices,
      secretBoxes: this.#secretBoxes,
      smtp: prepared.config.smtp,
      status: this.#status,
      daemon: daemonView(now, built.edges, clock, {
        placements: () => this.#intake.placements,
        reload: reload && (() => this.reload()),
      }),
    };
    return createHost(node, parts);
  }

  shutdown(): Promise<StopReport> {
    this.#shutdown ??= this.#stop();
    return this.#shutdown;
  }

  async #startAll(): Promise<void> {
    const { prepared, meter } = this.#options;
    const starting = this.#intake.start();
    // Awaited below; a failure of a component comes first.
    starting.catch(() => undefined);
    await this.#lifecycle.start(
      (node) => this.#hostOf(node, this.#built, prepared),
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
    this.#own?.connect({ built: this.#built, userOf: (email) => this.#identity.ownUser(email) });
    this.#isStarted = true;
    this.#writeOwners();
    this.#status.phase = 'running';
  }

  #writeOwners(): void {
    const { configFiles, logger } = this.#options;
    if (configFiles === undefined) return;
    const prepared = this.prepared();
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
    const { clock, logger } = this.#options;
    const { shutdown_delay, shutdown_timeout } = this.prepared().config.service;
    this.#status.phase = 'stopping';
    if (this.#isStarted && !this.#status.fatality && durationMs(shutdown_delay) > 0) {
      // Load balancers notice that it is not ready before connections are refused.
      logger.info({ shutdown_delay }, 'No longer ready; listeners stay open for service.shutdown_delay');
      await pause(clock, durationMs(shutdown_delay));
    }
    const deadline = new Deadline(durationMs(shutdown_timeout), clock);
    const errors: Error[] = [];
    if (this.#own?.isSelf === true) await this.#own.close(deadline.abort);
    logger.info({ in_flight: this.#built.gate.inside }, 'Stopping: new requests are refused');
    this.#listeners.drainIngestion();
    // While the locks are still held, an owner file cannot be that of the next process.
    if (this.#isStarted && this.#options.configFiles !== undefined)
      removeOwners(exclusivePaths(this.prepared().claims));
    await deadline
      .wait(() => this.#reloading.stop(), 'a reload')
      .catch((error: unknown) => {
        errors.push(error instanceof Error ? error : new Error(String(error)));
      });
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
    if (this.#own?.isSelf === false) await this.#own.close(deadline.abort);
    deadline.cancel();
    this.#status.phase = 'stopped';
    const report = { fatality: this.#status.fatality, errors };
    this.#resolveStopped(report);
    return report;
  }
}

/** Serves the daemon's own metrics in the text format of Prometheus. */
export function serveMetrics(listener: Listener, meter: PrometheusMeter): void {
  listener.route({
    method: 'GET',
    path: '/metrics',
    isPublic: true,
    async handle() {
      const { contentType, text } = await meter.print();
      return { status: 200, headers: { 'content-type': contentType }, body: text };
    },
  });
}
