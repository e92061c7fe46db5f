import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { sql } from 'kysely';
import { loadSqlite } from '../../../config/sqlite-module.js';
import { readRow } from '../any-text.js';
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
    await sql`vacuum into ${path}`.execute(database);
    const copy = new DatabaseSync(path, { readOnly: true });
    try {
      return await work(async function* (table) {
        const statement = copy.prepare(
          `select rowid as "#", * from "${table}" where rowid > ? order by rowid limit ${PAGE}`,
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
      copy.close();
    }
  } finally {
    await rm(path, { force: true });
  }
};
