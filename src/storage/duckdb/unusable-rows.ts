import { columnsOf, type Table } from '../table.js';
import { LOGS, POINTS, SEGMENT_TABLES, UNUSABLE_ROWS } from '../tables.js';
import { deriveSumsAnew } from './cold-sums.js';
import type { Connection } from './database.js';
import { COLD } from './segment.js';

/** The largest number, of microseconds as of anything else, that JavaScript holds exactly. */
const MOST = Number.MAX_SAFE_INTEGER;

/**
 * Takes the rows out of an attached file's tables that nothing could be done with, into its table `unusable_rows`: a time of
 * `infinity` or a number beyond 2^53 would make every list fail that comes upon it. Nothing that is taken in has such values;
 * they come from damage, or from somebody who changed the file.
 *
 * Each condition asks one column for what lies beyond a bound, so that the least and greatest values which DuckDB keeps of each
 * row group answer it without looking at rows.
 *
 * @param catalog the cold file, of which the sums are derived anew then, or a hot segment
 * @returns how many rows of each table, by its name; empty where all is well
 */
export async function setUnusableAside(
  connection: Connection,
  catalog: string,
): Promise<ReadonlyMap<string, number>> {
  const tables = SEGMENT_TABLES.filter((table) => table !== UNUSABLE_ROWS);
  const looks = tables.flatMap((table) =>
    conditionsOf(table).map(
      (condition) =>
        `(SELECT '${table.name}' AS name FROM ${catalog}.main.${table.name} WHERE ${condition} LIMIT 1)`,
    ),
  );
  const found = new Set((await connection.rows(looks.join(' UNION ALL '))).map(({ name }) => name));
  const moved = new Map<string, number>();
  if (found.size === 0) return moved;
  await connection.run('BEGIN');
  try {
    for (const table of tables) {
      if (found.has(table.name)) moved.set(table.name, await setAside(connection, catalog, table));
    }
    // What they added to the sums is not what they hold now.
    if (catalog === COLD) await deriveSumsAnew(connection);
    await connection.run('COMMIT');
  } catch (error) {
    await connection.run('ROLLBACK').catch(() => undefined);
    throw error;
  }
  return moved;
}

async function setAside(connection: Connection, catalog: string, table: Table): Promise<number> {
  const from = `${catalog}.main.${table.name}`;
  const isUnusable = conditionsOf(table).join(' OR ');
  // As of no commit: the number of theirs may be what is wrong with them.
  await connection.run(
    `INSERT INTO ${catalog}.main.${UNUSABLE_ROWS.name} SELECT 0, 0, '${table.name}', r::VARCHAR FROM ${from} r WHERE ${isUnusable}`,
  );
  const rows = await connection.rows(`DELETE FROM ${from} WHERE ${isUnusable} RETURNING 1 AS done`);
  return rows.length;
}

/** Conditions of which a usable row meets none. */
function conditionsOf(table: Table): string[] {
  return columnsOf(table).flatMap(({ name, sql }) => {
    switch (sql) {
      case 'BIGINT':
        return [`${name} < -${MOST}`, `${name} > ${MOST}`];
      case 'TIMESTAMP':
        return [`${name} < make_timestamp(-${MOST})`, `${name} > make_timestamp(${MOST})`];
      // NaN is greater than everything. What a metric measures may be any number.
      case 'DOUBLE':
        return table === POINTS ? [] : [`${name} < 0`, `${name} > ${MOST}`];
      default:
        return [];
    }
  });
}

/** In words, for the log and `/readyz`. */
export function describeUnusable(path: string, rows: ReadonlyMap<string, number>): string {
  const counts = [...rows].map(([name, count]) => `${count} of ${name}`).join(', ');
  const search = rows.has(LOGS.name) ? ' Counts of log searches may be too high by them.' : '';
  return `Rows with values that cannot be used were set aside into the table ${UNUSABLE_ROWS.name} of ${path}: ${counts}.${search}`;
}
