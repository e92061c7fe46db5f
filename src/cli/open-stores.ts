import type { Factory } from '../component/factory.js';
import type { Clock } from '../component/telemetry.js';
import { openControl, openStores, type OpenStores, type StoreNames } from '../pipeline/open-stores.js';
import { prepare, type Prepared } from '../pipeline/prepare.js';
import { createLogger } from '../telemetry/logger.js';
import { PrometheusMeter } from '../telemetry/meter.js';
import { StillClock } from '../telemetry/still-clock.js';
import { systemClock } from '../telemetry/system-clock.js';
import { configSources, type ConfigOptions } from './config-files.js';
import type { ProcessIo } from './process-io.js';

/** What work on stores has beside them. */
interface StoreTools {
  readonly clock: Clock;
  /** Aborted by SIGINT and SIGTERM. */
  readonly abort: AbortSignal;
}

/**
 * Opens the stores that the API of a configuration reads from in this process, does work with them, and closes them, whatever became of it.
 *
 * @throws what the work throws; Error where the stores cannot be opened, by another process for instance
 */
export async function withStores<T>(
  options: ConfigOptions,
  io: ProcessIo,
  builtin: readonly Factory[],
  work: (stores: OpenStores, tools: StoreTools) => Promise<T>,
): Promise<T> {
  const { sources, environment } = configSources(options, io);
  const prepared = await prepare(sources, environment, builtin);
  const { logger, clock, meter } = toolsOf(prepared, io);
  const abort = new AbortController();
  const endSignals = io.onSignal((name) => {
    abort.abort(new Error(`Ended by ${name}`));
  });
  try {
    const stores = await openStores(prepared, namesOf(prepared), { logger, meter, clock });
    try {
      return await work(stores, { clock, abort: abort.signal });
    } finally {
      for (const error of await stores.close()) io.err(error.message);
    }
  } finally {
    endSignals();
  }
}

/** Opens only a control store of a configuration, likewise. */
export async function withControl<T>(
  prepared: Prepared,
  id: string,
  io: ProcessIo,
  work: (control: OpenStores['control']) => Promise<T>,
): Promise<T> {
  const { control, close } = await openControl(prepared, id, toolsOf(prepared, io));
  try {
    return await work(control);
  } finally {
    for (const error of await close()) io.err(error.message);
  }
}

function toolsOf(prepared: Prepared, io: ProcessIo) {
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
  // It stands still, so that the stores do nothing by themselves: no run times out, nothing is removed.
  return { logger, meter: new PrometheusMeter(), clock: new StillClock(systemClock.now()) };
}

/** The ids of the stores that the API names. */
function namesOf({ plan }: Prepared): StoreNames {
  const query = plan.extensions.find(({ factory }) => factory.type === 'query');
  const { store, control } = Object(query?.config) as {
    readonly store?: unknown;
    readonly control?: unknown;
  };
  if (typeof store === 'string' && typeof control === 'string') return { store, control };
  throw new Error(
    'The configuration has no extension "query", which says what its stores are: list one in service.extensions.',
  );
}
