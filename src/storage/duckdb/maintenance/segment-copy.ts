import type { Table } from '../../schema/table.js';
import { SEGMENT_TABLES } from '../../schema/tables.js';
import { LOGS } from '../../schema/log-tables.js';
import { noteReplacedBy } from '../segments/quarantine.js';
import { noteMove } from '../segments/cold-sums.js';
import type { Connection } from '../files/connection.js';
import { compactLogs } from '../index/compact-logs.js';
import type { AroundMove } from '../segments/call-sums.js';
import { compactSums } from '../segments/compact-sums.js';
import { isNotReplaced, isVersionOf, rowsOf } from '../segments/relation.js';
import type { Segment } from '../segments/segment.js';

/** Rows per slice. Of the measured values this one delays acknowledgements least. */
export const SLICE_ROWS = 8192;
/** Fewer than {@link SLICE_ROWS}, because a payload row holds the texts of several spans. */
const PAYLOAD_SLICE_ROWS = 3072;

/**
 * Copies the current rows of a segment into the cold file and updates the sums, within the transaction of the caller.
 *
 * @param options.breathe called after each slice; if it throws, the copy is aborted
 */
export async function copySegment(
  connection: Connection,
  segment: Segment,
  options: AroundMove & { readonly breathe: () => Promise<void> },
): Promise<void> {
  const { breathe } = options;
  await noteMove(connection, segment, options);
  for (const table of SEGMENT_TABLES) {
    if (table === LOGS) await compactLogs(connection, segment, SLICE_ROWS, breathe);
    else if (table.sumsOf !== undefined) await compactSums(connection, segment, table);
    else await compactTable(connection, segment, table, breathe);
  }
}

/** Notes which rows of quarantined segments this segment superseded. @param quarantined only older segments are considered */
export async function noteReplacedInQuarantine(
  connection: Connection,
  segment: Segment,
  quarantined: readonly Segment[],
): Promise<void> {
  for (const one of quarantined) {
    if (one.lastSeq < segment.lastSeq) await noteReplacedBy(connection, one, segment);
  }
}

async function compactTable(
  connection: Connection,
  segment: Segment,
  table: Table,
  breathe: () => Promise<void>,
): Promise<void> {
  const from = `${segment.catalog}.main.${table.name}`;
  const keys = table.versionOf ?? [];
  const replaces = keys.length > 0 && (segment.replacing.get(table.name) ?? 0) > 0;
  // Only the newest version of a row is kept.
  const newer = `SELECT tenant, ${keys.join(', ')}, seq FROM ${rowsOf(segment, table)} WHERE replaces`;
  if (replaces) {
    await connection.run(
      `DELETE FROM cold.main.${table.name} c USING (${newer}) n WHERE ${isVersionOf(table, 'c', 'n')} AND c.seq < n.seq`,
    );
  }
  const condition = replaces
    ? `AND NOT EXISTS (SELECT 1 FROM (${newer}) n WHERE ${isVersionOf(table, 'n', 'o')} AND n.seq > o.seq)`
    : '';
  const isLeft = isNotReplaced(segment, table);
  const { sortedBy } = table;
  const order = sortedBy === undefined ? '' : ` ORDER BY o.${sortedBy.key}, o.${sortedBy.then}`;
  const slices =
    sortedBy === undefined
      ? await slicesByRow(connection, from, table.name === 'payloads' ? PAYLOAD_SLICE_ROWS : SLICE_ROWS)
      : await slicesByKey(connection, from, sortedBy.key, SLICE_ROWS);
  for (const slice of slices) {
    await connection.run(
      `INSERT INTO cold.main.${table.name} SELECT o.* FROM ${from} o WHERE ${slice} ${condition}${isLeft}${order}`,
    );
    await breathe();
  }
}

/** Conditions on the rows `o` of a table, in insertion order: each selects about `size` rows, and together they select every row. */
async function slicesByRow(connection: Connection, from: string, size: number): Promise<string[]> {
  return rowRanges(await lastRowOf(connection, from), size);
}

/**
 * Like {@link slicesByRow}, in the order of a key: each selects the rows of adjacent keys, or a part of the rows of a very frequent
 * key.
 *
 * @param key the name of an integer column
 */
async function slicesByKey(
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
