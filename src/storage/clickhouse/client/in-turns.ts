import { must } from '../../../signal/checked.js';
import type { Settings } from '../../../component/factory.js';
import { ReadPool, WAITING_READS, type Reader, type ReadPlace } from '../../read-pool.js';
import type { TelemetryPlane } from '../../telemetry-plane.js';
import type { ClickHouseOptions } from '../clickhouse-options.js';

/** The contracts that users read by. */
type ReadParts = Pick<
  TelemetryPlane,
  'runs' | 'agents' | 'models' | 'series' | 'sessions' | 'map' | 'prompts' | 'metrics' | 'logs' | 'past'
>;

/**
 * How a method waits for its turn: as a read that looks at little, or may look through much, as its arguments say; as a list of which
 * each page looks at little; or not at all, as it writes, or no user asks for it.
 */
type Kind<Method> =
  | 'short'
  | 'long'
  | 'list'
  | 'at once'
  | (Method extends (...args: infer Args) => unknown ? (...args: Args) => 'short' | 'long' : never);

type Kinds<Contract> = { readonly [Method in keyof Contract]: Kind<Contract[Method]> };

/** As the embedded store has it. A method that is missing here does not compile. */
const KINDS: { readonly [Part in keyof ReadParts]: Kinds<ReadParts[Part]> } = {
  runs: {
    read: 'short',
    outline: 'short',
    readSpan: 'short',
    list: (_user, { query }) => (query === undefined ? 'short' : 'long'),
    follow: (_user, { query, span, prompt }) =>
      [query, span, prompt].every((asked) => asked === undefined) ? 'short' : 'long',
    glance: 'short',
    find: 'list',
    setOutcome: 'at once',
  },
  agents: { list: 'long', find: 'long', read: 'short', days: 'long', estimate: 'long', compare: 'long' },
  models: { list: 'long', reprice: 'long' },
  series: { read: 'long' },
  sessions: { list: 'long', read: 'long' },
  map: { read: 'long', hours: 'long', rebuild: 'at once' },
  prompts: { link: 'at once', compare: 'long' },
  metrics: { list: 'short', query: 'short', series: 'long', labels: 'long' },
  logs: { search: 'long', facets: 'long', findTrace: 'long' },
  past: { observe: 'long' },
};

/**
 * What a read has while it is its turn. Where nobody waits for the answer any more, its statements end by the same signal; one that takes
 * too long ends by its own time.
 */
const PLACE: ReadPlace = { stop: (_error, reason) => reason === 'abandoned', goOn: () => undefined };

/**
 * Reads of users at a time: half of the connections, as a read may have two statements under way, and writes and the store's own work must
 * find one.
 */
function readsAtATime({ connections }: Pick<ClickHouseOptions, 'connections'>): number {
  return Math.max(1, Math.floor(connections / 2));
}

/** The places that the reads of users share. */
export function openTurns(
  { id, clock }: Pick<Settings<unknown>, 'id' | 'clock'>,
  options: Pick<ClickHouseOptions, 'connections' | 'timeoutMs'>,
): ReadPool<ReadPlace> {
  const places = Array.from({ length: readsAtATime(options) }, () => PLACE);
  return new ReadPool(places, {
    maxWaiting: WAITING_READS.maxWaiting,
    maxWaitingOfShare: WAITING_READS.maxWaitingOfUser,
    timeoutMs: options.timeoutMs,
    timeoutKey: `extensions.${id}.request_timeout`,
    clock,
  });
}

/**
 * Contracts whose reads wait for their turn, by the user that is their first argument. A list that comes in parts has its own turn, which
 * begins with the first part and ends with the last, as does the statement behind it.
 */
export function inTurns(parts: ReadParts, pool: ReadPool<ReadPlace>): ReadParts {
  const names = Object.keys(KINDS) as (keyof ReadParts)[];
  return Object.fromEntries(
    names.map((name) => [name, contractInTurns(parts[name], KINDS[name], pool)]),
  ) as unknown as ReadParts;
}

type AnyMethod = (...args: readonly unknown[]) => unknown;

function contractInTurns(contract: object, kinds: object, pool: ReadPool<ReadPlace>): object {
  const methods = Object.entries(kinds as Readonly<Record<string, string | AnyMethod>>).map(
    ([name, kind]) => {
      const method = must(
        (contract as Readonly<Record<string, AnyMethod>>)[name],
        `method ${name} of a store`,
      );
      const inTurn: AnyMethod = (...args) => {
        const is = typeof kind === 'string' ? kind : kind(...args);
        const ask = (): unknown => method.call(contract, ...args);
        if (is === 'at once') return ask();
        const abort = args.find((arg) => arg instanceof AbortSignal);
        const reader = { share: String(args[0]), isLong: is === 'long', mayBeEnded: true, abort };
        if (is === 'list') return listInTurn(ask() as AsyncIterable<unknown>, pool, reader);
        return pool.use(reader, async () => withListsInTurn(await ask(), pool, reader));
      };
      return [name, inTurn] as const;
    },
  );
  return Object.fromEntries(methods);
}

/** An answer whose lists, which are read later, wait for their turns. */
function withListsInTurn(answer: unknown, pool: ReadPool<ReadPlace>, reader: Reader): unknown {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return answer;
  const fields = Object.entries(answer as Readonly<Record<string, unknown>>);
  if (!fields.some(([, value]) => isList(value))) return answer;
  return Object.fromEntries(
    fields.map(([name, value]) => [name, isList(value) ? listInTurn(value, pool, reader) : value]),
  );
}

function isList(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

async function* listInTurn(
  list: AsyncIterable<unknown>,
  pool: ReadPool<ReadPlace>,
  reader: Reader,
): AsyncGenerator {
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  await new Promise<void>((begin, refuse) => {
    pool
      .use(reader, async () => {
        begin();
        await ended;
      })
      .catch(refuse);
  });
  try {
    yield* list;
  } finally {
    end();
  }
}
