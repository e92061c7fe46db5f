import { dirname, join } from 'node:path';
import type { Test } from 'tap';
import type { Clock } from '../../src/component/telemetry.js';
import { SqlControlStore } from '../../src/storage/control/sql-control-store.js';
import { openPostgres } from '../../src/storage/control/postgres/open-postgres.js';
import { openSqlite } from '../../src/storage/control/sqlite/open-sqlite.js';
import { systemClock } from '../../src/telemetry/system-clock.js';
import type { PostgresServer } from './postgres.js';
import { RecordingLogger } from './recording-logger.js';
import { testFolder } from './test-folder.js';

/** A control plane in this thread, over a SQLite file of the test's own: the real one, for tests of what stands on it. */
export async function openControlStore(
  t: Test,
  { directory = testFolder(t), clock = systemClock }: { directory?: string; clock?: Clock } = {},
): Promise<SqlControlStore> {
  const store = await controlStoreAt(join(directory, 'control.db'), clock);
  t.teardown(() => store.close());
  return store;
}

/** Likewise over an empty database in PostgreSQL. */
export async function openPostgresControl(t: Test, server: PostgresServer): Promise<SqlControlStore> {
  const url = await server.createDatabase();
  const database = await openPostgres({ url, clock: systemClock, logger: new RecordingLogger() });
  const store = new SqlControlStore(database);
  t.teardown(() => store.close());
  return store;
}

/** That of a file, which the caller closes. */
export async function controlStoreAt(path: string, clock: Clock = systemClock): Promise<SqlControlStore> {
  return new SqlControlStore(await openSqlite({ path, clock }), dirname(path), clock);
}

/** Where the control plane of a store of a test lies: beside it. */
export function controlPathOf(storePath: string): string {
  return storePath.replace(/\.duckdb$/, '.control.db');
}
