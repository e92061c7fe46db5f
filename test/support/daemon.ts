import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { builtinFactories } from '../../src/builtin.js';
import type { Factory } from '../../src/component/factory.js';
import type { Clock } from '../../src/component/telemetry.js';
import { startDaemon, type Daemon } from '../../src/pipeline/daemon.js';
import { prepare } from '../../src/pipeline/prepare.js';
import { PrometheusMeter } from '../../src/telemetry/meter.js';
import { systemClock } from '../../src/telemetry/system-clock.js';
import { RecordingLogger } from './recording-logger.js';
import { testConfig } from './test-config.js';
import { testFolder } from './test-folder.js';

/** They take half of the CPU time of a start. Tests of them configure their number; daemons in their own process have the default. */
const NO_INTAKE_THREADS = { file: 'intake.yaml', text: 'service: { intake: { threads: 0 } }' };

/** Options of a test. */
export interface TestDaemonOptions {
  /** YAML overlay for the default configuration. */
  readonly overlay?: string;
  /** Factories in addition to the built-in ones. */
  readonly factories?: readonly Factory[];
  /** Store folder; a fresh one by default. Pass that of a stopped daemon to restart it. */
  readonly directory?: string;
  /** The first key of a store in that folder. */
  readonly key?: string;
  readonly clock?: Clock;
  /** URL of a database with the control store; a file by default. */
  readonly postgres?: string;
}

/** A whole daemon in this process. */
export interface TestDaemon {
  readonly daemon: Daemon;
  /** `http://127.0.0.1:PORT` of the API. */
  readonly url: string;
  readonly healthUrl: string;
  readonly metricsUrl: string;
  /** `http://127.0.0.1:PORT` of OTLP over HTTP. */
  readonly otlpUrl: string;
  /** `127.0.0.1:PORT` of OTLP over gRPC. */
  readonly grpcAddress: string;
  /** A key with every scope. */
  readonly key: string;
  readonly directory: string;
  readonly meter: PrometheusMeter;
  /** Log lines. */
  readonly logs: readonly string[];
}

/**
 * Starts a daemon with real sockets and a real store. It stops with the test at the latest. A reload reads the same configuration and
 * `reload.yaml` in its directory.
 */
export async function startTestDaemon(
  t: Pick<Test, 'testdir' | 'teardown'>,
  options: TestDaemonOptions = {},
): Promise<TestDaemon> {
  const directory = options.directory ?? testFolder(t);
  const config = testConfig(directory, options.overlay, options.key, options.postgres);
  const { key } = config;
  const sources = [NO_INTAKE_THREADS, ...config.sources];
  const environment = {
    variables: {},
    readFile: (path: string): string => {
      throw new Error(`${path} is not read in tests`);
    },
  };
  const factories = [...builtinFactories, ...(options.factories ?? [])];
  const prepared = await prepare(sources, environment, factories);
  const logger = new RecordingLogger();
  const meter = new PrometheusMeter();
  const reload = {
    read: async () => {
      const file = join(directory, 'reload.yaml');
      const overlay = existsSync(file) ? [{ file, text: readFileSync(file, 'utf8') }] : [];
      return prepare([...sources, ...overlay], environment, factories);
    },
    applied: () => undefined,
  };
  const daemon = await startDaemon({ prepared, logger, meter, clock: options.clock ?? systemClock, reload });
  t.teardown(() => daemon.shutdown());
  const addressOf = (path: string): string =>
    [...daemon.paths].find(([, paths]) => paths.some((served) => served.startsWith(path)))?.[0] ?? '';
  return {
    daemon,
    url: addressOf('/api/v1/'),
    healthUrl: addressOf('/readyz'),
    metricsUrl: addressOf('/metrics'),
    otlpUrl: addressOf('/v1/traces'),
    grpcAddress: addressOf('/opentelemetry.proto.').replace('grpc://', ''),
    key,
    directory,
    meter,
    logs: logger.lines,
  };
}
