import { closeSync, openSync } from 'node:fs';
import { stat, rm } from 'node:fs/promises';
import { dirname, resolve, join } from 'node:path';
import type { DatabaseSyncInstance } from '@photostructure/sqlite';
import { Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler, sql } from 'kysely';
import type { Clock, Logger } from '../../../component/telemetry.js';
import { makePrivate, makePrivateDirectory, PRIVATE_FILE } from '../../../config/private-path.js';
import { syncDirectory } from '../../../config/sync-directory.js';
import { ControlDatabase } from '../control-database.js';
import { ControlStoreError } from '../control-store-error.js';
import type { Dialect } from '../dialect.js';
import { migrate, openError } from '../migrate.js';
import { LocalSignals } from '../signals.js';
import type { Tables } from '../tables.js';
import { FileWrites, hasNoRoom } from './file-writes.js';
import { SqliteDriver } from './sqlite-driver.js';
import { isNoDatabase, sqliteFailure } from './sqlite-failure.js';
import { loadSqlite } from '../../../config/sqlite-module.js';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { readRow } from '../any-text.js';
import { DatabaseFailure } from '../database-failure.js';

const PAGE = 200;

/** The snapshot is read from a copy. */
const sqliteSnapshot: Dialect['snapshot'] = async (database, directory, work) => {
  const path = join(directory, 'snapshot.sqlite');
  const { DatabaseSync } = await loadSqlite();
  try {
    await sqliteCopy(database, path);
    // Attached, because an opened file stays open, and uses disk space, until its last statement has been garbage-collected.
    const reader = new DatabaseSync(':memory:');
    reader.prepare('attach ? as copy').run(path);
    try {
      return await work(async function* (table) {
        const statement = reader.prepare(
          `select rowid as "#", * from copy."${table}" where rowid > ? order by rowid limit ${PAGE}`,
        );
        for (let last = -1; ;) {
          const rows = statement.all(last) as Record<string, unknown>[];
          if (rows.length === 0) return;
          last = Number(rows.at(-1)?.['#']);
          yield rows.map((row) => {
            delete row['#'];
            return readRow(row);
          });
          await yieldToOthers();
        }
      });
    } finally {
      reader.exec('detach copy');
      reader.close();
    }
  } finally {
    await rm(path, { force: true });
  }
};

/** One statement, which blocks other reads and writes: the process has one connection to the file. */
async function sqliteCopy(database: Kysely<Tables>, path: string): Promise<void> {
  await sql`vacuum into ${path}`.execute(database).catch((error: unknown) => {
    throw unwritten(path, error);
  });
}

async function countRows(database: Kysely<Tables>): Promise<Record<string, number>> {
  const rows: Record<string, number> = {};
  for (const { name } of await database.introspection.getTables()) {
    const { rows: counted } = await sql<{
      readonly count: number;
    }>`select count(*) as count from ${sql.table(name)}`.execute(database);
    rows[name] = counted[0]?.count ?? 0;
  }
  return rows;
}

/** The file of the store is intact: only the copy failed. */
function unwritten(path: string, error: unknown): unknown {
  if (!(error instanceof DatabaseFailure) || error.kind !== 'unavailable') return error;
  return new Error(`${path} cannot be written: ${error.message}`, { cause: error });
}

/** Application id in the file header: "JDCS". */
const APPLICATION = 0x4a444353;
/** How long to wait for another process that is about to end and release the file. */
const BUSY_MS = 1000;

class TransactionalAdapter extends SqliteAdapter {
  /** kysely returns false because of pragmas, which the migrations here do not use. A killed migration is rolled back. */
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/**
 * Opens the database of the control store in a file, which is created, private to its user, if missing. Leases and claims of earlier
 * processes are ended before anything else is written; on a full disk, the file is opened for reading until that is possible.
 *
 * @param clock decides about leases
 * @throws ControlStoreError if the file belongs to another process, another program or a newer version; the error of the file system
 */
export async function openSqlite(options: {
  readonly path: string;
  readonly clock: Clock;
  readonly logger?: Logger;
}): Promise<ControlDatabase> {
  const path = resolve(options.path);
  await makeFile(path);
  const { DatabaseSync } = await loadSqlite();
  const file = new DatabaseSync(path, { timeout: BUSY_MS });
  try {
    prepare(file, path);
  } catch (error) {
    file.close();
    throw fileError(path, error);
  }
  const dialect: Dialect = {
    text: 'text',
    now: () => sql<number>`${options.clock.now()}`,
    // The file has only one writer.
    lock: (query) => query,
    lockSkipping: (query) => query,
    snapshot: sqliteSnapshot,
    // On the only connection, so that the counts are those of the copy.
    copy: async (database, target) =>
      await database.connection().execute(async (connection) => {
        await sqliteCopy(connection, target);
        return await countRows(connection);
      }),
    size: async () => {
      const log = await stat(`${path}-wal`).catch(() => null);
      return (await stat(path)).size + (log?.size ?? 0);
    },
  };
  const writes = new FileWrites(file, path);
  const kysely = new Kysely<Tables>({
    dialect: {
      createAdapter: () => new TransactionalAdapter(),
      createDriver: () => new SqliteDriver(file, writes),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  });
  const database = new ControlDatabase(kysely, dialect, new LocalSignals(), (self) => writes.check(self));
  try {
    await migrate(kysely, dialect, path, options.logger);
    writes.open();
  } catch (error) {
    await database.close();
    throw openError(path, error);
  }
  return database;
}

/** SQLite creates its other files with the mode of this one. */
async function makeFile(path: string): Promise<void> {
  await makePrivateDirectory(dirname(path));
  try {
    closeSync(openSync(path, 'wx', PRIVATE_FILE));
    await syncDirectory(dirname(path));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    for (const name of [path, `${path}-wal`]) makePrivate(name);
  }
}

/** The first read takes the lock, before anything is written, and keeps it until the file is closed. */
function prepare(file: DatabaseSyncInstance, path: string): void {
  file.exec('pragma locking_mode = exclusive');
  file.exec('begin immediate');
  const header = file
    .prepare(
      'select application_id, (select count(*) from sqlite_schema) as tables from pragma_application_id',
    )
    .get() as { application_id: number; tables: number };
  file.exec('commit');
  const isNew = header.application_id === 0 && header.tables === 0;
  if (!isNew && header.application_id !== APPLICATION)
    throw new ControlStoreError(
      `The file ${path} is a database of another program. Use another file for the control store.`,
    );
  file.exec('pragma synchronous = full; pragma foreign_keys = on');
  try {
    file.exec('pragma journal_mode = wal');
  } catch (error) {
    // On a full disk, `FileWrites` does this later.
    if (!hasNoRoom(sqliteFailure(error))) throw error;
  }
  if (isNew) file.exec(`pragma application_id = ${String(APPLICATION)}`);
}

function fileError(path: string, error: unknown): unknown {
  const failure = sqliteFailure(error);
  if (failure.kind === 'repeat')
    return new ControlStoreError(
      `The control store ${path} is in use by another process. Stop that process, or use another file.`,
      { cause: failure },
    );
  if (isNoDatabase(error))
    return new ControlStoreError(
      `The file ${path} is not a control store: SQLite cannot read it. Restore it from a backup, or move it away to start with an empty store.`,
      { cause: failure },
    );
  return error instanceof ControlStoreError ? error : openError(path, failure);
}
