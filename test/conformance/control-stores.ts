import { join } from 'node:path';
import root, { type Test } from 'tap';
import type { ControlDatabase } from '../../src/storage/control/control-database.js';
import type { ControlStore } from '../../src/storage/contracts/control-store.js';
import { SqlControlStore } from '../../src/storage/control/sql-control-store.js';
import { openPostgres } from '../../src/storage/control/postgres/open-postgres.js';
import { openSqlite } from '../../src/storage/control/sqlite/open-sqlite.js';
import { systemClock } from '../../src/telemetry/system-clock.js';
import { ControlsThread } from '../support/controls-thread.js';
import { HandClock } from '../support/hand-clock.js';
import { PostgresServer } from '../support/postgres.js';
import { RecordingLogger } from '../support/recording-logger.js';
import { testFolder } from '../support/test-folder.js';
import { EMBEDDED } from '../support/tier.js';

/** An empty control store under test. */
interface OpenedControl {
  readonly store: ControlStore;
  /** A store opened by another process if supported, otherwise the same. */
  another(): Promise<ControlStore>;
  /** Closes and reopens the store. */
  reopen(): Promise<ControlStore>;
  /** Lets time pass for leases by turning the clock or waiting. */
  pass(ms: number): Promise<void>;
}

export type OpenControl = (t: Test) => Promise<OpenedControl>;

/** A store in this thread with its database. */
interface OpenedDatabase extends OpenedControl {
  readonly database: ControlDatabase;
  anotherDatabase(): Promise<ControlDatabase>;
}

export type OpenDatabase = (t: Test) => Promise<OpenedDatabase>;

/** Runs a suite on every implementation and on SQLite in a thread. Skips PostgreSQL with a reason if unavailable. */
export async function onEveryControl(t: Test, suite: (t: Test, open: OpenControl) => void): Promise<void> {
  await onEveryDatabase(t, suite);
  await t.test('on SQLite in a thread', EMBEDDED, async (t) => {
    const thread = ControlsThread.start(t);
    suite(t, (t) => inThread(t, thread));
  });
}

let postgres: ReturnType<typeof PostgresServer.start> | undefined;

/** One server for all files of this process. @returns a reason if it cannot run here */
export async function postgresOfProcess(): Promise<PostgresServer | string> {
  return await (postgres ??= PostgresServer.start(root));
}

/** Runs a suite on every database. */
export async function onEveryDatabase(t: Test, suite: (t: Test, open: OpenDatabase) => void): Promise<void> {
  await t.test('on SQLite', EMBEDDED, async (t) => {
    suite(t, onSqlite);
  });
  const server = await postgresOfProcess();
  const skip = typeof server === 'string' ? server : false;
  await t.test('on PostgreSQL', { skip }, async (t) => {
    if (typeof server === 'string') return;
    suite(t, (t) => onPostgres(t, server));
  });
}

async function onSqlite(t: Test): Promise<OpenedDatabase> {
  const path = join(testFolder(t), 'control.db');
  const clock = new HandClock();
  const open = async (): Promise<ControlDatabase> => {
    const opened = await openSqlite({ path, clock });
    t.teardown(() => opened.close());
    return opened;
  };
  const database = await open();
  const store = new SqlControlStore(database);
  let current = database;
  return {
    database,
    store,
    anotherDatabase: async () => database,
    another: async () => store,
    async reopen() {
      await current.close();
      current = await open();
      return new SqlControlStore(current);
    },
    async pass(ms) {
      clock.advance(ms);
    },
  };
}

/** Its time can be turned here although the store is in another thread. */
async function inThread(t: Test, thread: ControlsThread): Promise<OpenedControl> {
  const opened = await thread.open(t, join(testFolder(t), 'control.db'));
  return {
    store: opened.store,
    another: async () => await opened.another(),
    reopen: async () => await opened.reopen(),
    async pass(ms) {
      opened.clock.advance(ms);
    },
  };
}

async function onPostgres(t: Test, server: PostgresServer): Promise<OpenedDatabase> {
  const url = await server.createDatabase();
  const open = async (): Promise<ControlDatabase> => {
    const opened = await openPostgres({ url, clock: systemClock, logger: new RecordingLogger() });
    t.teardown(() => opened.close());
    return opened;
  };
  const database = await open();
  const store = new SqlControlStore(database);
  return {
    database,
    store,
    anotherDatabase: open,
    another: async () => new SqlControlStore(await open()),
    async reopen() {
      await store.close();
      return new SqlControlStore(await open());
    },
    async pass(ms) {
      // Waits by the server's clock, which leases use.
      await server.query(`select pg_sleep(${String(ms / 1000)})`);
    },
  };
}
