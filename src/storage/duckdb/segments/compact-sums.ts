import { columnsOf, type Table } from '../../schema/table.js';
import type { Connection } from '../files/connection.js';
import type { Segment } from './segment.js';

/**
 * Copies the parts of sums of a segment into the cold file, merged into one row per sum. The rows carry the last commit of the
 * segment, so a read sees them exactly if it does not read the segment.
 */
export async function compactSums(connection: Connection, segment: Segment, table: Table): Promise<void> {
  const { list } = sumsOf(table);
  await connection.run(
    `INSERT INTO cold.main.${table.name} SELECT ${selected(table, String(segment.lastSeq))} FROM ${segment.catalog}.main.${table.name} GROUP BY ${list} ORDER BY ${list}`,
  );
}

/**
 * Merges the rows that earlier compactions left for the same sum. Only rows visible to every running read are merged, so no read
 * sees a part twice or misses it: each statement sees either all of this or nothing.
 *
 * @param bound the last commit that the oldest read expects in the cold file
 * @param known number of sums at the last check, so that checks become rare if nearly every row is a sum of its own
 * @returns the number of sums, or `known` if too few rows were added since
 */
export async function foldSums(
  connection: Connection,
  table: Table,
  bound: number,
  known: number,
): Promise<number> {
  const { keys, list } = sumsOf(table);
  const { countedBy } = table;
  const name = `cold.main.${table.name}`;
  const [all] = await connection.rows(`SELECT count(*) AS parts FROM ${name}`);
  const most = Number(all?.parts);
  if (most >= known && most - known < most * WORTH_FOLDING) return known;
  const [found] = await connection.rows(
    `SELECT count(*) AS sums, coalesce(sum(parts), 0)::BIGINT AS parts FROM (SELECT count(*) AS parts FROM ${name} WHERE seq <= ${bound} GROUP BY ${list})`,
  );
  const [sums, parts] = [Number(found?.sums), Number(found?.parts)];
  // Otherwise rewriting costs more than reads gain.
  if (parts - sums < parts * WORTH_FOLDING) return sums;
  await connection.run(
    `CREATE OR REPLACE TEMP TABLE folded AS SELECT ${selected(table, 'max(seq)')} FROM ${name} WHERE seq <= ${bound} GROUP BY ${list} HAVING count(*) > 1`,
  );
  await connection.run('BEGIN');
  try {
    await connection.run(
      `DELETE FROM ${name} d USING temp.folded f WHERE d.seq <= ${bound} AND ${keys.map((key) => `d.${key} IS NOT DISTINCT FROM f.${key}`).join(' AND ')}`,
    );
    // All parts of each sum are merged here, so a sum of zero needs no row.
    const isLeft = countedBy === undefined ? 'TRUE' : `${countedBy} <> 0`;
    await connection.run(`INSERT INTO ${name} SELECT * FROM temp.folded WHERE ${isLeft} ORDER BY ${list}`);
    await connection.run('COMMIT');
  } catch (error) {
    await connection.run('ROLLBACK').catch(() => undefined);
    throw error;
  }
  await connection.run('DROP TABLE temp.folded');
  return sums;
}

/** Share of rows that merging must save to be worthwhile. */
const WORTH_FOLDING = 0.25;

/** The select list of a group, in the order of the table's columns. */
function selected(table: Table, seq: string): string {
  const { keys } = sumsOf(table);
  return columnsOf(table)
    .map(({ name, sql }) => {
      if (name === 'seq') return `${seq} AS seq`;
      return keys.includes(name) ? name : `${table.combinedBy?.[name] ?? 'sum'}(${name})::${sql} AS ${name}`;
    })
    .join(', ');
}

function sumsOf(table: Table): { readonly keys: readonly string[]; readonly list: string } {
  const keys = table.sumsOf;
  if (keys === undefined) throw new RangeError(`${table.name} is not a table of sums`);
  return { keys, list: keys.join(', ') };
}
