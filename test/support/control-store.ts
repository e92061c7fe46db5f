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

/** A real control store in this thread, over a SQLite file of the test. */
export async function openControlStore(
  t: Test,
  { directory = testFolder(t), clock = systemClock }: { directory?: string; clock?: Clock } = {},
): Promise<SqlControlStore> {
  const store = await controlStoreAt(join(directory, 'control.db'), clock);
  t.teardown(() => store.close());
  return store;
}

/** A control store over an empty PostgreSQL database. */
export async function openPostgresControl(t: Test, server: PostgresServer): Promise<SqlControlStore> {
  const url = await server.createDatabase();
  const database = await openPostgres({ url, clock: systemClock, logger: new RecordingLogger() });
  const store = new SqlControlStore(database);
  t.teardown(() => store.close());
  return store;
}

/** The control store of a file, closed by the caller. */
export async function controlStoreAt(path: string, clock: Clock = systemClock): Promise<SqlControlStore> {
  return new SqlControlStore(await openSqlite({ path, clock }), dirname(path), clock);
}

/** The path of the control store next to the store of a test. */
export function controlPathOf(storePath: string): string {
  return storePath.replace(/\.duckdb$/, '.control.db');
}
