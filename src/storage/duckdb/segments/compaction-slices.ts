import type { Connection } from '../files/connection.js';

/** Conditions on the rows `o` of a table, in insertion order: each selects about `size` rows, and together they select every row. */
export async function slicesByRow(connection: Connection, from: string, size: number): Promise<string[]> {
  return rowRanges(await lastRowOf(connection, from), size);
}

/**
 * Like {@link slicesByRow}, in the order of a key: each selects the rows of adjacent keys, or a part of the rows of a very frequent
 * key.
 *
 * @param key the name of an integer column
 */
export async function slicesByKey(
  connection: Connection,
  from: string,
  key: string,
  size: number,
): Promise<string[]> {
  const counts = await connection.rows(
    `SELECT ${key} AS key, count(*) AS rows FROM ${from} GROUP BY ${key} ORDER BY ${key}`,
  );
  const lastRow = await lastRowOf(connection, from);
  const slices: string[] = [];
  let [first, rows] = [Number(counts[0]?.key), 0];
  for (const [i, count] of counts.entries()) {
    rows += Number(count.rows);
    const next = counts[i + 1];
    if (next !== undefined && rows + Number(next.rows) <= size) continue;
    const keys = `o.${key} BETWEEN ${first} AND ${Number(count.key)}`;
    if (rows <= size) slices.push(keys);
    else {
      const share = Math.floor((size / rows) * lastRow);
      slices.push(...rowRanges(lastRow, share).map((range) => `${keys} AND ${range}`));
    }
    [first, rows] = [Number(next?.key), 0];
  }
  return slices;
}

/** One more than the last row id. The row count may be lower, because failed commits leave gaps. */
async function lastRowOf(connection: Connection, from: string): Promise<number> {
  const [last] = await connection.rows(`SELECT coalesce(max(rowid) + 1, 0) AS rows FROM ${from}`);
  return Number(last?.rows);
}

function rowRanges(rows: number, size: number): string[] {
  const count = Math.ceil(rows / size);
  return Array.from({ length: count }, (_, i) => `o.rowid >= ${i * size} AND o.rowid < ${(i + 1) * size}`);
}
