import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { sql } from 'kysely';
import { loadSqlite } from '../../../config/sqlite-module.js';
import { readRow } from '../any-text.js';
import { DatabaseFailure } from '../database-failure.js';
import type { Dialect } from '../dialect.js';

const PAGE = 200;

/**
 * A copy of the file, made in one statement, during which nothing else is read or written: the process has the file alone, over one
 * connection. The rest reads the copy.
 */
export const sqliteSnapshot: Dialect['snapshot'] = async (database, directory, work) => {
  const path = join(directory, 'snapshot.sqlite');
  const { DatabaseSync } = await loadSqlite();
  try {
    await sql`vacuum into ${path}`.execute(database).catch((error: unknown) => {
      throw unwritten(path, error);
    });
    // Attached, since a file that was opened stays so until the last statement has been garbage-collected, and with it its room on the disk.
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

/** The file of the store is whole and can be read: what is amiss is the copy. */
function unwritten(path: string, error: unknown): unknown {
  if (!(error instanceof DatabaseFailure) || error.kind !== 'unavailable') return error;
  return new Error(`${path} cannot be written: ${error.message}`, { cause: error });
}
