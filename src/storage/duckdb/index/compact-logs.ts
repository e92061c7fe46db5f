import { wordAt } from '../../../signal/checked.js';
import { columnsOf } from '../../schema/table.js';
import { LOGS } from '../../schema/log-tables.js';
import type { Connection } from '../files/connection.js';
import { int64At } from '../files/plain-rows.js';
import type { Segment } from '../segments/segment.js';
import { termHash, type TermKind } from './terms.js';

/** Positions are 16 bits wide. */
export const BLOCK_RECORDS = 65_536;
/** A block's terms are collected in memory, which takes some ten times this. */
export const BLOCK_BYTES = 16 * 1024 * 1024;

/**
 * Copies the log records of a sealed segment into the cold file, inside the compactor's transaction: in blocks, each sorted by
 * user, time and id, with their search terms. See `README.md` in this directory.
 *
 * @param sliceRows rows written per statement
 * @param pause called between statements; throws to abort the compaction
 */
export async function compactLogs(
  connection: Connection,
  segment: Segment,
  sliceRows: number,
  pause: () => Promise<void>,
): Promise<void> {
  const blocks = await cutIntoBlocks(connection, segment);
  if (blocks.length === 0) return;
  const [last] = await connection.rows('SELECT coalesce(max(block), 0) AS block FROM cold.main.log_blocks');
  let block = Number(last?.block);
  for (const { from, to } of blocks) {
    block++;
    const rows = { table: `${segment.catalog}.main.logs`, from, to };
    await writeBlock(connection, { seq: segment.lastSeq, block, rows }, sliceRows, pause);
  }
}

/** A block to be written. */
export interface Block {
  /** Reads that expect this commit in the cold file see the block. */
  readonly seq: number;
  readonly block: number;
  /** Its records: rows of a table, by their row ids. */
  readonly rows: { readonly table: string; readonly from: number; readonly to: number };
}

/**
 * Writes records into the cold file as a block, with its terms, within a transaction.
 *
 * @param sliceRows rows to be written by one statement
 * @param pause called between statements
 */
export async function writeBlock(
  connection: Connection,
  of: Block,
  sliceRows: number,
  pause: () => Promise<void>,
): Promise<void> {
  const { seq, block, rows } = of;
  await connection.run(
    `CREATE OR REPLACE TEMP TABLE log_order AS
      SELECT rowid AS source, (row_number() OVER (ORDER BY tenant, timestamp, id) - 1)::USMALLINT AS position
      FROM ${rows.table} WHERE rowid >= ${rows.from} AND rowid < ${rows.to}`,
  );
  await writeRecords(connection, of, sliceRows, pause);
  await connection.run(
    `INSERT INTO cold.main.log_blocks
      SELECT ${seq}, ${block}, tenant, min(position), count(*), sum(bytes), min(timestamp), max(timestamp)
      FROM ${ordered(of)} GROUP BY tenant`,
  );
  await pause();
  await connection.run(
    `INSERT INTO cold.main.log_terms
      SELECT ${seq}, ${block}, hash, len(positions), positions FROM (${termLists(of)}) ORDER BY hash`,
  );
  await pause();
  await connection.run('DROP TABLE temp.log_order');
}

/** Stretches of neighbouring rows, each small enough for a block. */
async function cutIntoBlocks(
  connection: Connection,
  { catalog }: Segment,
): Promise<{ readonly from: number; readonly to: number }[]> {
  const blocks: { from: number; to: number }[] = [];
  let records = 0;
  let bytes = 0;
  // In the order of the rows, which one thread reads.
  for await (const chunk of connection.wholeChunks(`SELECT rowid, bytes FROM ${catalog}.main.logs`)) {
    const rowIds = chunk.words(0, 8);
    const sizes = chunk.words(1, 4);
    for (let i = 0; i < chunk.rows; i++) {
      const row = int64At(rowIds, i);
      const size = wordAt(sizes, i);
      const block = blocks.at(-1);
      if (block === undefined || records === BLOCK_RECORDS || bytes + size > BLOCK_BYTES) {
        blocks.push({ from: row, to: row + 1 });
        records = 0;
        bytes = 0;
      } else block.to = row + 1;
      records++;
      bytes += size;
    }
  }
  return blocks;
}

async function writeRecords(
  connection: Connection,
  of: Block,
  sliceRows: number,
  pause: () => Promise<void>,
): Promise<void> {
  const columns = columnsOf(LOGS).map(({ name }) =>
    name === 'log_no' ? `${of.block * BLOCK_RECORDS}::BIGINT + position` : name,
  );
  for (let start = 0; start < of.rows.to - of.rows.from; start += sliceRows) {
    await connection.run(
      `INSERT INTO cold.main.logs SELECT ${columns.join(', ')} FROM ${ordered(of)}
        WHERE position >= ${start} AND position < ${start + sliceRows} ORDER BY position`,
    );
    await pause();
  }
}

/** The block's records with their positions. */
function ordered({ rows: { table, from, to } }: Block): string {
  return `(SELECT * FROM ${table} l JOIN temp.log_order o ON l.rowid = o.source WHERE l.rowid >= ${from} AND l.rowid < ${to})`;
}

/** Each term of the block's records, with the positions of the records that have it. */
function termLists(of: Block): string {
  const records = ordered(of);
  // Splits ASCII texts into tokens; the sender's thread has already split the others.
  const tokens = `CASE WHEN normal IS NULL THEN regexp_extract_all(lower(concat_ws(' ', body, other_text)), '[a-z0-9]+') ELSE string_split(trim(replace(normal, '  ', ' '), ' '), ' ') END`;
  // A term that a record has twice comes twice, side by side.
  const once = `CASE WHEN len(positions) = 1 THEN positions ELSE list_filter(positions, lambda p, i: i = 1 OR p <> positions[i - 1]) END`;
  const lists = (kind: TermKind, value: string, from: string, positions: string) =>
    `SELECT ${termHash('tenant', kind, 'value')} AS hash, ${positions} AS positions FROM (SELECT tenant, ${value} AS value, list(position) AS positions FROM ${from} GROUP BY ALL)`;
  return [
    lists('token', 'token', `(SELECT tenant, position, unnest(${tokens}) AS token FROM ${records})`, once),
    lists('service', 'service_name', records, 'positions'),
    lists('severity', 'severity', records, 'positions'),
    lists('trace', 'trace_id', `(SELECT * FROM ${records} WHERE trace_id IS NOT NULL)`, 'positions'),
  ].join(' UNION ALL ');
}
