import { Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, sql } from 'kysely';
import { Client, Pool, types, type ClientConfig, type CustomTypesConfig } from 'pg';
import type { Clock, Logger } from '../../../component/telemetry.js';
import { ControlDatabase } from '../control-database.js';
import type { Dialect } from '../dialect.js';
import { migrate, openError } from '../migrate.js';
import type { Tables } from '../tables.js';
import { PostgresDriver } from './postgres-driver.js';
import { PostgresSignals } from './postgres-signals.js';

/** Number of rows held in memory. Rows of events have bodies of many kilobytes. */
const PAGE = 200;

/** One transaction with a snapshot, and a cursor for each table. */
const postgresSnapshot: Dialect['snapshot'] = async (database, _directory, work) =>
  await database.transaction().execute(async (tx) => {
    await sql`set transaction isolation level repeatable read, read only`.execute(tx);
    // The first statement takes the snapshot.
    await sql`select 1 from counters`.execute(tx);
    return await work(async function* (table) {
      await sql`declare exported no scroll cursor for select * from ${sql.table(table)}`.execute(tx);
      for (;;) {
        const { rows } = await sql<Record<string, unknown>>`fetch ${sql.lit(PAGE)} from exported`.execute(tx);
        if (rows.length === 0) break;
        yield rows;
      }
      await sql`close exported`.execute(tx);
    });
  });

const CONNECTIONS = 10;
const CONNECT_MS = 5000;
/** How long a caller waits for a free connection. */
const TURN_MS = 30_000;
/** Longer than any statement takes: a server that does not respond by then is lost. */
const ANSWER_MS = 30_000;
/** The server's statement timeout as a fraction of that time, so that it reports the failure and stops the statement. */
const STATEMENT_SHARE = 0.8;
/** A process that hangs in a transaction loses its locks after this time. */
const IDLE_IN_TRANSACTION_MS = 10_000;

const dialect: Dialect = {
  text: 'text collate "C"',
  // Processes on several machines share the leases, and their clocks differ; the database's clock is the only common one.
  now: () => sql<number>`(extract(epoch from clock_timestamp()) * 1000000)::bigint`,
  lock: (query) => query.forUpdate(),
  lockSkipping: (query) => query.forUpdate().skipLocked(),
  snapshot: postgresSnapshot,
  copy: async () => {
    throw new Error('PostgreSQL is not in a file: back it up with pg_dump or its own tools.');
  },
  size: async (database) => {
    const { rows } = await sql<{
      readonly bytes: number;
    }>`select pg_database_size(current_database()) as bytes`.execute(database);
    return Number(rows[0]?.bytes);
  },
};

/**
 * Opens a PostgreSQL database, which may be shared with other processes, as the control store.
 *
 * @param url `postgres://user:password@host:port/database`
 * @param clock for pauses; leases use the database's clock
 * @throws ControlStoreError if the database cannot be reached, or a newer program has used it
 */
export async function openPostgres(options: {
  readonly url: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Number of connections, in addition to the one for LISTEN. */
  readonly connections?: number;
  /** Timeout of a statement, in milliseconds. */
  readonly answerMs?: number;
}): Promise<ControlDatabase> {
  const answerMs = options.answerMs ?? ANSWER_MS;
  const config: ClientConfig = {
    connectionString: options.url,
    application_name: 'jackdaw',
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: answerMs,
    statement_timeout: answerMs * STATEMENT_SHARE,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    keepAlive: true,
    types: PARSERS,
  };
  const pool = new Pool({
    ...config,
    max: options.connections ?? CONNECTIONS,
    Client: QuickClient,
    connectionTimeoutMillis: TURN_MS,
  });
  // For idle and active connections: an `error` event without a listener would end the process.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => {
    client.on('error', () => undefined);
  });
  const kysely = new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new PostgresDriver(pool),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
  const signals = new PostgresSignals({ config, clock: options.clock, logger: options.logger });
  const database = new ControlDatabase(kysely, dialect, signals, async (self) => {
    await self.read((db) => db.selectFrom('identity').select('id').execute());
  });
  const place = placeOf(options.url);
  try {
    await migrate(kysely, dialect, place, options.logger);
  } catch (error) {
    await database.close();
    throw openError(place, error);
  }
  await signals.open();
  return database;
}

/** The pool has one timeout for connecting and for waiting for a free connection; only the latter may be long. */
class QuickClient extends Client {
  constructor(config?: string | ClientConfig) {
    super(typeof config === 'object' ? { ...config, connectionTimeoutMillis: CONNECT_MS } : config);
  }
}

const PARSERS: CustomTypesConfig = {
  getTypeParser: (type, format) => {
    if (type === types.builtins.INT8) return readBigint as never;
    return types.getTypeParser(type, format) as never;
  },
};

function readBigint(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number)) throw new RangeError('a bigint of the control store exceeds 2^53');
  return number;
}

/** Database and host, without secrets. */
function placeOf(url: string): string {
  try {
    const { host, pathname, searchParams } = new URL(url);
    return `${pathname.slice(1)} at ${host === '' ? (searchParams.get('host') ?? 'localhost') : host}`;
  } catch {
    return 'of extensions.postgres.url';
  }
}
