import { sql } from 'kysely';
import type { Dialect } from '../dialect.js';

/** Rows that are held at a time. Those of events have bodies of many kilobytes. */
const PAGE = 200;

/** One transaction that sees what was committed when it began, and a cursor for each table. */
export const postgresSnapshot: Dialect['snapshot'] = async (database, _directory, work) =>
  await database.transaction().execute(async (tx) => {
    await sql`set transaction isolation level repeatable read, read only`.execute(tx);
    // The moment is that of the first statement that reads.
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
