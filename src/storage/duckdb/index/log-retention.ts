import type { Micros } from '../../../signal/time.js';
import { removeRows, type Connection } from '../files/connection.js';
import { dropBlocks } from './block-runs.js';
import { inTransaction } from './in-transaction.js';
import { BLOCK_RECORDS } from './compact-logs.js';

/** After this many rounds the rest is left to the next run: old records may keep arriving. */
const ROUNDS = 10;

/** Runs work on the cold file between two compactions. */
type Between = <T>(work: (connection: Connection) => Promise<T>) => Promise<T>;

/**
 * Removes log records before a time from the cold file, including their index. The terms of a partly removed block are rewritten,
 * one block between two compactions, so that counts stay exact.
 *
 * @returns the number of removed records
 */
export async function removeOldLogs(between: Between, firstKept: Micros): Promise<number> {
  let removed = 0;
  // Blocks may be merged between two steps, so it repeats until nothing is left.
  for (let round = 0; round < ROUNDS; round++) {
    const records = await removeSome(between, firstKept);
    if (records === null) break;
    removed += records;
  }
  return removed;
}

/** @returns the number of removed records; null if there were none */
async function removeSome(between: Between, firstKept: Micros): Promise<number | null> {
  const rows = await between((connection) =>
    connection.rows(
      `SELECT block, max(newest) < make_timestamp(${firstKept}) AS is_over FROM cold.main.log_blocks
        GROUP BY block HAVING min(oldest) < make_timestamp(${firstKept}) ORDER BY block`,
    ),
  );
  const over = rows.flatMap((row) => (row.is_over === true ? Number(row.block) : []));
  const partial = rows.flatMap((row) => (row.is_over === true ? [] : Number(row.block)));
  let removed = 0;
  if (over.length > 0)
    removed += await between((connection) => inTransaction(connection, () => dropBlocks(connection, over)));
  for (const block of partial) {
    removed += await between((connection) =>
      inTransaction(connection, () => shorten(connection, block, firstKept)),
    );
  }
  return rows.length > 0 ? removed : null;
}

/** @returns how many records were removed */
async function shorten(connection: Connection, block: number, firstKept: Micros): Promise<number> {
  const ofBlock = `log_no >= ${block * BLOCK_RECORDS} AND log_no < ${(block + 1) * BLOCK_RECORDS}`;
  const removed = await removeRows(
    connection,
    `cold.main.logs WHERE ${ofBlock} AND timestamp < make_timestamp(${firstKept})`,
  );
  await connection.run(
    `CREATE OR REPLACE TEMP TABLE kept_logs AS
      SELECT tenant, (log_no & 65535)::USMALLINT AS position, timestamp, bytes FROM cold.main.logs WHERE ${ofBlock}`,
  );
  await connection.run(
    `CREATE OR REPLACE TEMP TABLE kept_terms AS
      SELECT seq, hash, list(position) AS positions
      FROM (SELECT seq, hash, unnest(positions) AS position FROM cold.main.log_terms WHERE block = ${block})
      SEMI JOIN temp.kept_logs USING (position) GROUP BY seq, hash`,
  );
  const [{ seq } = {}] = await connection.rows(
    `SELECT max(seq) AS seq FROM cold.main.log_blocks WHERE block = ${block}`,
  );
  for (const table of ['log_terms', 'log_blocks']) {
    await connection.run(`DELETE FROM cold.main.${table} WHERE block = ${block}`);
  }
  await connection.run(
    `INSERT INTO cold.main.log_terms
      SELECT seq, ${block}, hash, len(positions), positions FROM temp.kept_terms ORDER BY hash`,
  );
  await connection.run(
    `INSERT INTO cold.main.log_blocks
      SELECT ${Number(seq)}, ${block}, tenant, min(position), count(*), sum(bytes), min(timestamp), max(timestamp)
      FROM temp.kept_logs GROUP BY tenant`,
  );
  for (const table of ['kept_logs', 'kept_terms']) await connection.run(`DROP TABLE temp.${table}`);
  return removed;
}
