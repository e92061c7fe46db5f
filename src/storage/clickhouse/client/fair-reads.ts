import { invariant } from '../../../signal/checked.js';
import type { Settings } from '../../../component/factory.js';
import {
  ReadPool,
  WAITING_READS,
  type PoolRead,
  type Reader,
  type ReadPlace,
} from '../../shared/read-pool.js';
import type { TelemetryStore } from '../../contracts/telemetry-store.js';
import type { ClickHouseOptions } from '../clickhouse-options.js';

/** The contracts for user reads. */
type ReadParts = Pick<
  TelemetryStore,
  | 'runs'
  | 'agents'
  | 'models'
  | 'series'
  | 'groups'
  | 'sessions'
  | 'scores'
  | 'map'
  | 'prompts'
  | 'metrics'
  | 'logs'
  | 'past'
>;

/**
 * How a method is queued: as a light or heavy read, depending on its arguments; as a list whose pages are light reads; or not at all,
 * because it writes or serves no user.
 */
type Kind<Method> =
  | 'short'
  | 'long'
  | 'list'
  | 'at once'
  | (Method extends (...args: infer Args) => unknown ? (...args: Args) => 'short' | 'long' : never);

type Kinds<Contract> = { readonly [Method in keyof Contract]: Kind<Contract[Method]> };

/** A missing method does not compile. */
const KINDS: { readonly [Part in keyof ReadParts]: Kinds<ReadParts[Part]> } = {
  runs: {
    read: 'short',
    traceSummary: 'short',
    readSpan: 'short',
    scores: 'short',
    list: 'short',
    follow: (_user, { span, prompt }) =>
      [span, prompt].every((asked) => asked === undefined) ? 'short' : 'long',
    search: 'long',
    searchTrace: 'long',
    values: 'long',
    attributeValues: 'long',
    preview: 'short',
    find: 'list',
    setOutcome: 'at once',
  },
  agents: { list: 'long', find: 'long', read: 'short', days: 'long', estimate: 'long', compare: 'long' },
  models: { list: 'long', performance: 'long', tools: 'long', reprice: 'long' },
  series: { read: 'long' },
  groups: { read: 'long' },
  sessions: { list: 'long', read: 'long', scores: 'short', users: 'long', repositories: 'long' },
  scores: { groups: 'long', ofRuns: 'short' },
  map: { read: 'long', hours: 'long', rebuild: 'at once' },
  prompts: { link: 'at once', compare: 'long' },
  metrics: { list: 'short', query: 'short', series: 'long', labels: 'long' },
  logs: { search: 'long', facets: 'long', groups: 'long', findTrace: 'long' },
  past: { observe: 'long' },
};

/** The running statements of a read. */
class ReadStatements {
  readonly #end = new AbortController();
  #reason: Error | null = null;

  /** Passed to all statements of the read: aborting it cancels them, also on the server (`connection.ts`). */
  get signal(): AbortSignal {
    return this.#end.signal;
  }

  /** @returns false if they were already stopped */
  stop(reason: Error): boolean {
    if (this.#reason !== null) return false;
    this.#reason = reason;
    this.#end.abort();
    return true;
  }

  /** Rethrows the stop reason for work that fails after `stop`. */
  async of<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw this.#reason ?? error;
    }
  }
}

/** The queue entry of a read and its running statements. */
interface FairRead {
  readonly pool: ReadPool<ReadPermit>;
  readonly reader: Reader;
  readonly statements: ReadStatements;
}

/** A permit to read, held by one read at a time. */
export class ReadPermit implements ReadPlace {
  #statements: ReadStatements | null = null;

  /** Statements of a caller without a signal cannot be cancelled; only their own timeout applies. */
  lendTo({ reader, statements }: FairRead): void {
    this.#statements = reader.abort === undefined ? null : statements;
  }

  stop(error: Error): boolean {
    return this.#statements?.stop(error) ?? false;
  }

  goOn(): void {
    this.#statements = null;
  }
}

/**
 * Maximum of concurrent user reads: half of the connections, because a read may run two statements, and writes and maintenance need
 * connections too.
 */
function readsAtATime({ connections }: Pick<ClickHouseOptions, 'connections'>): number {
  return Math.max(1, Math.floor(connections / 2));
}

/** Opens the pool of permits for user reads. */
export function openReadPermits(
  { id, clock }: Pick<Settings<unknown>, 'id' | 'clock'>,
  options: Pick<ClickHouseOptions, 'connections' | 'timeoutMs'>,
): ReadPool<ReadPermit> {
  const places = Array.from({ length: readsAtATime(options) }, () => new ReadPermit());
  return new ReadPool(places, {
    maxWaiting: WAITING_READS.maxWaiting,
    maxWaitingOfShare: WAITING_READS.maxWaitingOfUser,
    timeoutMs: options.timeoutMs,
    timeoutKey: `extensions.${id}.request_timeout`,
    clock,
  });
}

/**
 * Wraps contracts so that reads are queued by user, their first argument. A streamed list holds its own permit from its first part to its
 * last, as long as its statement runs.
 */
export function withFairReads(parts: ReadParts, pool: ReadPool<ReadPermit>): ReadParts {
  const names = Object.keys(KINDS) as (keyof ReadParts)[];
  return Object.fromEntries(
    names.map((name) => [name, fairContract(parts[name], KINDS[name], pool)]),
  ) as unknown as ReadParts;
}

type AnyMethod = (...args: readonly unknown[]) => unknown;

function fairContract(contract: object, kinds: object, pool: ReadPool<ReadPermit>): object {
  const methods = Object.entries(kinds as Readonly<Record<string, string | AnyMethod>>).map(
    ([name, kind]) => {
      const method = invariant(
        (contract as Readonly<Record<string, AnyMethod>>)[name],
        `method ${name} of a store`,
      );
      const queued: AnyMethod = (...args) => {
        const is = typeof kind === 'string' ? kind : kind(...args);
        if (is === 'at once') return method.call(contract, ...args);
        const abort = args.find((arg) => arg instanceof AbortSignal);
        const statements = new ReadStatements();
        const given = args.map((arg) => (arg instanceof AbortSignal ? statements.signal : arg));
        const ask = (): unknown => method.call(contract, ...given);
        const reader = { share: String(args[0]), isLong: is === 'long', mayBeEnded: true, abort };
        const read = { pool, reader, statements };
        if (is === 'list') return fairList(ask() as AsyncIterable<unknown>, read);
        return pool.use(reader, async (permit) => {
          permit.lendTo(read);
          return withFairLists(await statements.of(async () => await ask()), read);
        });
      };
      return [name, queued] as const;
    },
  );
  return Object.fromEntries(methods);
}

/** Wraps an answer so that its lists, which are read later, are queued too. */
function withFairLists(answer: unknown, read: FairRead): unknown {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return answer;
  const fields = Object.entries(answer as Readonly<Record<string, unknown>>);
  if (!fields.some(([, value]) => isList(value))) return answer;
  return Object.fromEntries(
    fields.map(([name, value]) => [name, isList(value) ? fairList(value, read) : value]),
  );
}

function isList(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

async function* fairList(list: AsyncIterable<unknown>, read: FairRead): AsyncGenerator {
  const { pool, reader, statements } = read;
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const running = await new Promise<PoolRead<ReadPermit>>((begin, refuse) => {
    pool
      .use({ ...reader, mayBeEnded: 'in parts' }, async (permit, itself) => {
        permit.lendTo(read);
        begin(itself);
        await ended;
      })
      .catch(refuse);
  });
  const parts = list[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await running.part(async () => await statements.of(async () => await parts.next()));
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    await parts.return?.();
    end();
  }
}
