import { accessSync, constants } from 'node:fs';
import { resolve } from 'node:path';
import type { Factory } from '../component/factory.js';
import type { Clock } from '../component/telemetry.js';
import { isLockedByOther } from '../config/directory-lock.js';
import type { BuildTools } from '../pipeline/build.js';
import { openControl, openStores, type OpenStores, type StoreNames } from '../pipeline/open-stores.js';
import { ownerOf } from '../pipeline/owner-files.js';
import { prepare, type Prepared } from '../pipeline/prepare.js';
import type { ControlStore } from '../storage/contracts/control-store.js';
import { createLogger } from '../telemetry/logger.js';
import { PrometheusMeter } from '../telemetry/meter.js';
import { StillClock } from '../telemetry/still-clock.js';
import { systemClock } from '../telemetry/system-clock.js';
import { configSources, type ConfigOptions } from './config-files.js';
import type { ProcessIo } from './io.js';

interface StoreTools {
  readonly clock: Clock;
  /** Aborted by SIGINT and SIGTERM. */
  readonly abort: AbortSignal;
}

/**
 * Opens the stores behind a configuration's API in this process, works with them, and always closes them.
 *
 * @throws errors of the work; Error if the stores cannot be opened, for example if another process uses them
 */
export async function withStores<T>(
  options: ConfigOptions,
  io: ProcessIo,
  builtin: readonly Factory[],
  work: (stores: OpenStores, tools: StoreTools) => Promise<T>,
): Promise<T> {
  const { prepared, tools } = await prepareStores(options, io, builtin);
  const abort = new AbortController();
  const endSignals = io.onSignal((name) => {
    abort.abort(new Error(`Ended by ${name}`));
  });
  try {
    const stores = await openStores(prepared, namesOf(prepared), tools);
    try {
      return await work(stores, { clock: tools.clock, abort: abort.signal });
    } finally {
      for (const error of await stores.close()) io.err(error.message);
    }
  } finally {
    endSignals();
  }
}

/**
 * Like {@link withStores}, for the control store alone.
 *
 * @throws errors of the work; Error if the store does not exist, is not writable for this user, or is in use by a daemon
 */
export async function withControl<T>(
  options: ConfigOptions,
  io: ProcessIo,
  builtin: readonly Factory[],
  work: (control: ControlStore, clock: Clock) => Promise<T>,
): Promise<T> {
  const { prepared, tools } = await prepareStores(options, io, builtin);
  // As in the daemon, the first control store holds the users.
  const store = prepared.plan.extensions.find(({ factory }) => CONTROL_STORES.includes(factory.type));
  if (!store)
    throw new Error('The configuration has no control store: add sqlite or postgres to service.extensions.');
  const { path } = store.config;
  if (store.factory.type === 'sqlite' && typeof path === 'string') await assertOwn(path);
  const { control, close } = await openControl(prepared, store.id, tools);
  try {
    return await work(control, tools.clock);
  } finally {
    for (const error of await close()) io.err(error.message);
  }
}

const CONTROL_STORES: readonly string[] = ['sqlite', 'postgres'];

/** @throws Error if a file is missing, is not writable for this user, or is in use by a daemon */
async function assertOwn(path: string): Promise<void> {
  const file = resolve(path);
  try {
    accessSync(file, constants.R_OK | constants.W_OK);
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT')
      throw new Error(
        `There is no control store ${file}: check --config and the working directory, or start the daemon once.`,
        { cause },
      );
    throw new Error(`This user cannot write ${file}: run the command as the user of the daemon.`, { cause });
  }
  if (!(await isLockedByOther(file))) return;
  const pid = ownerOf(path)?.pid;
  throw new Error(
    `The control store ${file} is in use by ${pid === undefined ? 'another process' : `the daemon with PID ${pid}`}: stop it first, or omit --offline.`,
  );
}

async function prepareStores(
  options: ConfigOptions,
  io: ProcessIo,
  builtin: readonly Factory[],
): Promise<{ readonly prepared: Prepared; readonly tools: BuildTools }> {
  const { sources, environment } = configSources(options, io);
  const prepared = await prepare(sources, environment, builtin);
  const logger = createLogger({
    level: 'warn',
    format: prepared.config.service.telemetry.logs.format,
    output: {
      write: (text) => {
        io.log(text);
      },
      isTerminal: io.isLogTerminal,
    },
    secrets: prepared.config.secrets,
  });
  // A stopped clock prevents background work in the stores: no run times out, and nothing is deleted.
  const clock = new StillClock(systemClock.now());
  return { prepared, tools: { logger, meter: new PrometheusMeter(), clock } };
}

/** The ids of the stores in the configuration of the API. */
function namesOf({ plan }: Prepared): StoreNames {
  const query = plan.extensions.find(({ factory }) => factory.type === 'query');
  const { store, control } = Object(query?.config) as {
    readonly store?: unknown;
    readonly control?: unknown;
  };
  if (typeof store === 'string' && typeof control === 'string') return { store, control };
  throw new Error(
    'The configuration has no extension "query", which names the stores: add one to service.extensions.',
  );
}
