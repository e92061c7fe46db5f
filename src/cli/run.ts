import { Command } from 'commander';
import type { Factory } from '../component/factory.js';
import type { Logger } from '../component/telemetry.js';
import type { Environment } from '../config/environment.js';
import type { ConfigSource } from '../config/load.js';
import { ConfigError, formatProblem } from '../config/config-error.js';
import { intakeHeap, memoryBudget, memoryNeed } from '../config/memory.js';
import { formatSize } from '../config/size.js';
import { readVersion } from '../config/package-version.js';
import { Placements } from '../pipeline/intake/placements.js';
import { startDaemon, type Daemon, type StopReport } from '../pipeline/daemon.js';
import { blamePlugin } from '../pipeline/isolation/plugin-scope.js';
import { prepare, readSecretsAgain, type Prepared } from '../pipeline/prepare.js';
import { createLogger, type RootLogger } from '../telemetry/logger.js';
import { PrometheusMeter } from '../telemetry/meter.js';
import { observeProcess } from '../telemetry/process-metrics.js';
import { systemClock } from '../telemetry/system-clock.js';
import { formatBanner, urlsOf } from './banner.js';
import {
  configPaths,
  configSources,
  problemLines,
  withConfigOption,
  type ConfigOptions,
} from './config-files.js';
import { logFormat } from './configured-daemon.js';
import { EXIT } from './exit-codes.js';
import type { ProcessIo } from './process-io.js';

/**
 * Ctrl-C in a terminal reaches all its processes, and npm forwards it to its child again. Within this time, that echo does not
 * count as a second signal.
 */
const ECHO_MS = 100;

/** Name of the option and of the configuration source that it adds. */
const ACCEPT_LOSS = '--accept-loss';

interface RunOptions extends ConfigOptions {
  readonly acceptLoss?: boolean;
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
      const { sources: files, environment } = configSources(options, io);
      let sources = files;
      let prepared = await prepare(sources, environment, builtin);
      if (options.acceptLoss === true) {
        sources = [...sources, acceptedLoss(prepared)];
        prepared = await prepare(sources, environment, builtin);
      }
      const { logs } = prepared.config.service.telemetry;
      logger = createLogger({ ...logs, output, secrets: prepared.config.secrets });
      for (const warning of prepared.warnings) logger.warn({}, formatProblem(warning));
      logMemory(prepared, logger);
      const given = { sources, environment, configFiles: configPaths(options) };
      setExitCode(await runUntilStopped(io, { prepared, logger, ...given }));
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
  const threads = new Placements(plan).inThreads().length === 0 ? 0 : config.service.intake.threads;
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
  readonly sources: readonly ConfigSource[];
  readonly environment: Environment;
  readonly configFiles: readonly string[];
  readonly logger: RootLogger;
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
  let reloading = Promise.resolve();
  const endHangups = io.onHangup(() => {
    const daemon = running;
    if (daemon === undefined) logger.info({ signal: 'SIGHUP' }, 'SIGHUP has no effect during the start');
    else reloading = reloading.then(() => reload(daemon, toRun));
  });
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
    if (firstSignal.signal.aborted) void daemon.shutdown();
    else firstSignal.signal.addEventListener('abort', () => void daemon.shutdown());
    return reportStop(await daemon.stopped, logger);
  } finally {
    endSignals();
    endHangups();
    endUncaught();
    endObservation();
  }
}

/** @returns undefined if a signal arrives before everything has started */
async function start(toRun: ToRun, meter: PrometheusMeter, abort: AbortSignal): Promise<Daemon | undefined> {
  try {
    return await startDaemon({ ...toRun, meter, clock: systemClock, abort });
  } catch (error) {
    if (!abort.aborted) throw error;
    toRun.logger.info({}, 'Stopped before the start was complete');
    return undefined;
  }
}

/** Reloads secrets and certificates. Never rejects. */
async function reload(daemon: Daemon, { prepared, sources, environment, logger }: ToRun): Promise<void> {
  const failed: { name: string; reason: string }[] = [];
  let { config } = prepared;
  try {
    config = readSecretsAgain(sources, environment, prepared.registry);
    logger.hide(config.secrets);
  } catch (error) {
    const problems = error instanceof ConfigError ? error.problems.map(formatProblem) : [String(error)];
    failed.push(...problems.map((reason) => ({ name: 'configuration', reason })));
  }
  // Without new secrets, certificates are still reloaded.
  const report = await daemon.reload(failed.length === 0 ? config : undefined);
  failed.push(...report.failed);
  const needRestart = [...report.needRestart, ...changedFiles(sources, environment)];
  const fields = { signal: 'SIGHUP', reloaded: report.reloaded, failed, need_restart: needRestart };
  if (failed.length === 0)
    logger.info(fields, 'Reloaded secrets and certificates; other settings need a restart');
  else
    logger.warn(
      fields,
      'Could not reload everything; failed components keep their old secrets and certificates',
    );
}

/** Configuration files that have changed since the start. */
function changedFiles(sources: readonly ConfigSource[], environment: Environment): readonly string[] {
  return sources
    .filter(({ file, text, isBuiltIn }) => {
      if (isBuiltIn === true || file === ACCEPT_LOSS) return false;
      try {
        return environment.readFile(file) !== text;
      } catch {
        return true;
      }
    })
    .map(({ file }) => file);
}

function reportStop({ fatality, errors }: StopReport, logger: Logger): number {
  for (const error of errors) logger.error({ err: error }, error.message);
  if (fatality) logger.error({}, `Stopped because ${fatality.component} is fatal: ${fatality.message}`);
  else logger.info({}, errors.length === 0 ? 'Stopped' : 'Stopped with errors');
  return fatality || errors.length > 0 ? EXIT.failure : EXIT.ok;
}
