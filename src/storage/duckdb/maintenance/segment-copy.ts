import type { Table } from '../../schema/table.js';
import { SEGMENT_TABLES } from '../../schema/tables.js';
import { LOGS } from '../../schema/log-tables.js';
import { noteReplacedBy } from '../segments/quarantine.js';
import { noteMove } from '../segments/cold-sums.js';
import type { Connection } from '../files/connection.js';
import { compactLogs } from '../index/compact-logs.js';
import type { AroundMove } from '../segments/call-sums.js';
import { compactSums } from '../segments/compact-sums.js';
import { slicesByKey, slicesByRow } from '../segments/compaction-slices.js';
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
