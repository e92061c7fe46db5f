import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { Factory } from '../../../component/factory.js';
import { ConfigError, formatProblem } from '../../../config/config-error.js';
import { checkConfig } from '../../../config/check.js';
import type { MapNode } from '../../../config/config-node.js';
import { mergeNodes } from '../../../config/merge.js';
import { parseYaml } from '../../../config/parse-yaml.js';
import { startDaemon, type Daemon } from '../../../pipeline/daemon.js';
import { loadRegistry } from '../../../pipeline/load-registry.js';
import { prepareTree } from '../../../pipeline/prepare.js';
import { createLogger } from '../../../telemetry/logger.js';
import { PrometheusMeter } from '../../../telemetry/meter.js';
import type { TestedTree } from '../bench.js';
import { TestProblem } from '../test-problem.js';
import { Ends } from './ends.js';
import type { GoingClock } from './going-clock.js';
import { Place } from './place.js';

/** Log fields that are irrelevant for a test. */
const OF_PROCESS = new Set(['time', 'pid', 'hostname']);

/** Dependencies of a daemon under test. */
interface DaemonParts {
  readonly tree: TestedTree;
  readonly builtin: readonly Factory[];
  /** Files given to the daemon, by configured path. */
  readonly files: ReadonlyMap<string, string>;
  readonly clock: GoingClock;
}

/** A daemon with a configuration, isolated in its own folder and ports. */
export class RunningDaemon {
  readonly ends: Ends;
  readonly place: Place;
  /** An API key with all scopes. */
  readonly key: string;
  /** Secrets of the configuration. */
  readonly secrets: readonly string[];
  readonly #daemon: Daemon;
  readonly #folder: string;
  readonly #log: string[];

  /** @throws TestProblem if it does not start */
  static async start(parts: DaemonParts): Promise<RunningDaemon> {
    const folder = await mkdtemp(join(tmpdir(), 'jackdaw-test-'));
    try {
      return await startIn(folder, parts);
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      const message =
        error instanceof ConfigError ? error.problems.map(formatProblem).join('; ') : String(error);
      throw new TestProblem(['daemon'], `the daemon does not start: ${message}`);
    }
  }

  constructor(parts: {
    readonly daemon: Daemon;
    readonly folder: string;
    readonly log: string[];
    readonly ends: Ends;
    readonly place: Place;
    readonly key: string;
    readonly secrets: readonly string[];
  }) {
    this.#daemon = parts.daemon;
    this.#folder = parts.folder;
    this.#log = parts.log;
    this.ends = parts.ends;
    this.place = parts.place;
    this.key = parts.key;
    this.secrets = parts.secrets;
  }

  /** Log lines, each with its level, message and fields. */
  get log(): readonly string[] {
    return this.#log;
  }

  /** The real address of a configured endpoint. */
  addressOf(host: string): string | undefined {
    const endpoint = this.place.endpointOf(host);
    return endpoint === undefined ? undefined : this.#daemon.addresses.get(endpoint);
  }

  forget(): void {
    this.ends.forget();
    this.#log.splice(0);
  }

  /** @throws TestProblem if it does not stop cleanly */
  async stop(): Promise<void> {
    const { errors, fatality } = await this.#daemon.shutdown();
    await rm(this.#folder, { recursive: true, force: true });
    const reason = fatality?.message ?? errors[0]?.message;
    if (reason !== undefined)
      throw new TestProblem(['daemon'], `the daemon does not stop cleanly: ${reason}`);
  }
}

async function startIn(folder: string, { tree, builtin, files, clock }: DaemonParts): Promise<RunningDaemon> {
  const ends = new Ends();
  const factories = [...builtin, ...ends.factories];
  const place = await Place.make(folder, files);
  const { registry } = await loadRegistry(tree.root, factories);
  const { config, problems } = checkConfig(tree.root, registry);
  if (!config) throw new ConfigError(problems);
  const { sections, key } = place.overlay(config);
  const { root: overlay } = parseYaml(stringify(sections), 'the isolation of the test');
  const merged = mergeNodes(tree.root, overlay as MapNode);
  const prepared = await prepareTree(
    { root: merged.root, problems: [...tree.problems, ...merged.problems] },
    factories,
  );
  const log: string[] = [];
  const { secrets } = prepared.config;
  const { level } = prepared.config.service.telemetry.logs;
  const write = (text: string): void => {
    const { level: severity, msg, ...fields } = JSON.parse(text) as Record<string, unknown>;
    const shown = Object.entries(fields).filter(([name]) => !OF_PROCESS.has(name));
    log.push(`${String(severity)} ${String(msg)} ${JSON.stringify(Object.fromEntries(shown))}`);
  };
  const logger = createLogger({ level, format: 'json', output: { write, isTerminal: false }, secrets });
  const daemon = await startDaemon({ prepared, logger, meter: new PrometheusMeter(), clock });
  return new RunningDaemon({ daemon, folder, log, ends, place, key, secrets });
}
