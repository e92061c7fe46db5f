import { resolve } from 'node:path';
import { Command } from 'commander';
import type { Factory } from '../component/factory.js';
import type { Logger } from '../component/telemetry.js';
import type { Config } from '../config/config.js';
import type { ConfigSource } from '../config/load.js';
import { ConfigError, formatProblem } from '../config/config-error.js';
import { intakeHeap, intakeThreads, memoryBudget, memoryNeed } from '../config/memory.js';
import { formatSize } from '../config/size.js';
import { readVersion } from '../config/package-version.js';
import { Placements } from '../pipeline/intake/placements.js';
import { startDaemon, type Daemon, type StopReport } from '../pipeline/daemon.js';
import { blamePlugin } from '../pipeline/isolation/plugin-scope.js';
import { fileStamp } from '../pipeline/file-stamps.js';
import { LoadedPlugins } from '../pipeline/load-registry.js';
import { prepare, type Prepared } from '../pipeline/prepare.js';
import type { Claim } from '../pipeline/resources.js';
import { createLogger, type RootLogger } from '../telemetry/logger.js';
import { PrometheusMeter } from '../telemetry/meter.js';
import { observeProcess } from '../telemetry/process-metrics.js';
import { systemClock } from '../telemetry/system-clock.js';
import { formatBanner, urlsOf } from './banner.js';
import {
  configPaths,
  configPlaces,
  configSources,
  problemLines,
  withConfigOption,
  type ConfigOptions,
} from './config-files.js';
import { logFormat } from './configured-daemon.js';
import { EXIT } from './exit-codes.js';
import type { ProcessIo } from './io.js';
import { ServiceManager } from './service-manager.js';
import { watchFiles } from './watch-files.js';

/**
 * Ctrl-C in a terminal reaches all its processes, and npm forwards it to its child again. Within this time, that echo does not
 * count as a second signal.
 */
const ECHO_MS = 100;

/** Name of the option and of the configuration source that it adds. */
const ACCEPT_LOSS = '--accept-loss';

interface RunOptions extends ConfigOptions {
  readonly acceptLoss?: boolean;
  readonly watch?: boolean;
}

/**
 * `jackdaw run`.
 *
 * @param setExitCode receives the exit code
 */
export function runCommand(
  io: ProcessIo,
  builtin: readonly Factory[],
  setExitCode: (code: number) => void,
): Command {
  const command = new Command('run').description(
    'Run the daemon until SIGINT or SIGTERM; a second signal ends it immediately.',
  );
  command.option('--accept-loss', 'continue without missing files of the embedded store');
  command.option('--watch', 'reload the configuration when its files change');
  return withConfigOption(command).action(async (options: RunOptions) => {
    const output = {
      write: (text: string) => {
        io.log(text);
      },
      isTerminal: io.isLogTerminal,
    };
    const format = logFormat(options, io);
    let logger: RootLogger = createLogger({ level: 'error', format, output });
    try {
      const reader = new ConfigReader(options, io, builtin);
      const prepared = await reader.read();
      const { logs } = prepared.config.service.telemetry;
      logger = createLogger({ ...logs, output, secrets: prepared.config.secrets });
      for (const warning of prepared.warnings) logger.warn({}, formatProblem(warning));
      logMemory(prepared, logger);
      const configFiles = configPlaces(options);
      setExitCode(
        await runUntilStopped(io, { prepared, logger, configFiles, reader, watches: options.watch === true }),
      );
    } catch (error) {
      // On a terminal, the error is printed as plain text, as by every command.
      if (format === 'pretty' || (format === 'auto' && io.isLogTerminal)) throw error;
      setExitCode(logFailure(error, logger));
    }
  });
}

/** Logs the memory that the daemon may use and the settings that divide it, and warns if they add up to more. */
function logMemory({ config, plan }: Prepared, logger: Logger): void {
  const { bytes, isLimit } = memoryBudget();
  const limits = Object.fromEntries(config.memory.map(({ key, bytes }) => [key, formatSize(bytes)]));
  const source = isLimit ? 'limit of the control group' : 'memory of the machine';
  const hasThreads = new Placements(plan).inThreads().length > 0;
  const threads = hasThreads ? intakeThreads(config.service.intake.threads) : 0;
  const intake = threads > 0 && { intake: { threads, heap_of_each: formatSize(intakeHeap(threads)) } };
  logger.info(
    { memory: formatSize(bytes), source, limits, ...intake },
    'Memory available to this process, and the settings that divide it',
  );
  const need = memoryNeed(config.memory, threads);
  if (need > bytes)
    logger.warn(
      { memory: formatSize(bytes), need: formatSize(need) },
      `With these settings the daemon may need ${formatSize(need)} under load, more than the ${formatSize(bytes)} that it may use: give it more memory, or lower the settings listed in the log line before`,
    );
}

/**
 * Logs the error.
 *
 * @returns the exit code
 */
function logFailure(error: unknown, logger: Logger): number {
  if (!(error instanceof ConfigError)) {
    logger.error({}, error instanceof Error ? error.message : String(error));
    return EXIT.failure;
  }
  for (const line of problemLines(error)) logger.error({}, line);
  return EXIT.configuration;
}

interface ToRun {
  readonly prepared: Prepared;
  readonly reader: ConfigReader;
  readonly watches: boolean;
  readonly configFiles: readonly string[];
  readonly logger: RootLogger;
}

/** Reads the configuration at the start and for each reload. */
class ConfigReader {
  readonly #options: RunOptions;
  readonly #io: ProcessIo;
  readonly #builtin: readonly Factory[];
  readonly #loaded = new LoadedPlugins();
  /** Configuration files, and those of `${file:}`, each with its stamp before it was read. */
  #files: ReadonlyMap<string, string> = new Map();
  #claims: readonly Claim[] = [];
  #stampOfRead = '';

  constructor(options: RunOptions, io: ProcessIo, builtin: readonly Factory[]) {
    this.#options = options;
    this.#io = io;
    this.#builtin = builtin;
  }

  /**
   * @param inUse what the daemon uses that reads its configuration again: ports and files that are new are then tested
   * @throws ConfigError
   */
  async read(inUse?: readonly Claim[]): Promise<Prepared> {
    try {
      return await this.#read(inUse);
    } finally {
      this.#stampOfRead = this.#stamp((file) => this.#files.get(file) ?? fileStamp(file));
    }
  }

  async #read(inUse?: readonly Claim[]): Promise<Prepared> {
    const files = new Map<string, string>();
    this.#files = files;
    const { sources, environment } = configSources(this.#options, this.#io, (name) => {
      const file = resolve(name);
      if (!files.has(file)) files.set(file, fileStamp(file));
    });
    const options = {
      loaded: this.#loaded,
      ...(inUse === undefined ? {} : { inUse, probe: configPlaces(this.#options) }),
    };
    let prepared = await prepare(sources, environment, this.#builtin, options);
    if (this.#options.acceptLoss === true)
      prepared = await prepare([...sources, acceptedLoss(prepared)], environment, this.#builtin, options);
    this.#claims = prepared.claims;
    return prepared;
  }

  /** {@link stamp} when the files were read. */
  get stampOfRead(): string {
    return this.#stampOfRead;
  }

  /** Changes when one of the files changes: configuration, secrets, plugins, and files that components read. */
  stamp(): string {
    return this.#stamp(fileStamp);
  }

  #stamp(of: (file: string) => string): string {
    let named: readonly string[] = [];
    try {
      named = configPaths(this.#options);
    } catch {
      // A folder that is empty for a moment; its files are missing below, too.
    }
    const read = this.#claims.flatMap(({ resource }) =>
      resource.kind === 'readable_file' ? [resource.path] : [],
    );
    const files = new Set([...named, ...this.#files.keys(), ...read]);
    return [...[...files].map((file) => `${file} ${of(file)}`), ...this.#loaded.stamps()].join('\n');
  }
}

/** Configures every embedded store to start without missing files. */
function acceptedLoss({ plan }: Prepared): ConfigSource {
  const stores = plan.extensions.filter(({ factory }) => factory.type === 'duckdb');
  const extensions = Object.fromEntries(stores.map(({ id }) => [id, { accept_loss: true }]));
  return { file: ACCEPT_LOSS, text: JSON.stringify({ extensions }) };
}

async function runUntilStopped(io: ProcessIo, toRun: ToRun): Promise<number> {
  const { prepared, logger } = toRun;
  const version = readVersion();
  const meter = new PrometheusMeter();
  const endObservation = observeProcess(meter, version);
  const firstSignal = new AbortController();
  let firstAt = -Infinity;
  const endSignals = io.onSignal((name) => {
    if (performance.now() - firstAt < ECHO_MS) return;
    if (firstSignal.signal.aborted) {
      logger.warn({ signal: name }, 'Second signal: exiting immediately');
      io.exitNow(name === 'SIGINT' ? EXIT.secondSigint : EXIT.secondSigterm);
      return;
    }
    logger.info({ signal: name }, 'Stopping; a second signal ends the process immediately');
    firstAt = performance.now();
    firstSignal.abort();
  });
  let running: Daemon | undefined;
  const manager = new ServiceManager(io.env, logger);
  const reload = async (cause: string): Promise<void> => {
    if (running === undefined) {
      logger.info({ cause }, `${cause} has no effect during the start`);
      return;
    }
    logger.info({ cause }, 'Reloading the configuration');
    await manager.reloading();
    await running.reload();
    await manager.ready();
  };
  const endHangups = io.onHangup(() => void reload('SIGHUP'));
  let endWatch = (): void => undefined;
  const endUncaught = io.onUncaught((error) => {
    if (blamePlugin(error)) return;
    // Same as Node's default: a process in an undefined state must not continue.
    logger.error({ err: error }, 'Stopped by an uncaught error');
    io.exitNow(EXIT.failure);
  });
  try {
    const daemon = await start(toRun, meter, firstSignal.signal);
    if (!daemon) return EXIT.ok;
    running = daemon;
    const { enabled } = prepared.config.auth;
    if (io.isTerminal) {
      const loginLink = await daemon.loginLink().catch(() => null);
      io.out(formatBanner({ version, daemon, isAuthEnabled: enabled, loginLink, now: new Date() }));
    }
    const addresses = Object.fromEntries(daemon.addresses);
    logger.info(
      { version, addresses, ...urlsOf(daemon), initial_key_file: daemon.initialKeyFile },
      'Running',
    );
    await manager.ready();
    const { reader } = toRun;
    const stamp = { now: () => reader.stamp(), ofRead: () => reader.stampOfRead };
    if (toRun.watches) endWatch = watchFiles(stamp, () => reload('A changed file'));
    firstSignal.signal.addEventListener('abort', () => void manager.stopping());
    if (firstSignal.signal.aborted) void daemon.shutdown();
    else firstSignal.signal.addEventListener('abort', () => void daemon.shutdown());
    return reportStop(await daemon.stopped, logger);
  } finally {
    endSignals();
    endHangups();
    endWatch();
    manager.end();
    endUncaught();
    endObservation();
  }
}

/** @returns undefined if a signal arrives before everything has started */
async function start(toRun: ToRun, meter: PrometheusMeter, abort: AbortSignal): Promise<Daemon | undefined> {
  try {
    const { reader, logger } = toRun;
    const source = {
      read: async (inUse: readonly Claim[]): Promise<Prepared> => {
        const prepared = await reader.read(inUse);
        logger.hide(prepared.config.secrets);
        return prepared;
      },
      applied: ({ service }: Config): void => {
        logger.setLevel(service.telemetry.logs.level);
      },
    };
    return await startDaemon({ ...toRun, meter, clock: systemClock, abort, reload: source });
  } catch (error) {
    if (!abort.aborted) throw error;
    toRun.logger.info({}, 'Stopped before the start was complete');
    return undefined;
  }
}

function reportStop({ fatality, errors }: StopReport, logger: Logger): number {
  for (const error of errors) logger.error({ err: error }, error.message);
  if (fatality) logger.error({}, `Stopped because ${fatality.component} is fatal: ${fatality.message}`);
  else logger.info({}, errors.length === 0 ? 'Stopped' : 'Stopped with errors');
  return fatality || errors.length > 0 ? EXIT.failure : EXIT.ok;
}
