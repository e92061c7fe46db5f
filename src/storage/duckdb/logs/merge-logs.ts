import type { Connection } from '../connection.js';
import { dropBlocks, isInRun, runsOf } from './block-runs.js';
import { inTransaction } from './in-transaction.js';
import { BLOCK_BYTES, BLOCK_RECORDS, writeBlock, type Block } from './move-logs.js';

/** Blocks with less than this share of the records and bytes that a block may hold are small. */
const SMALL = 0.5;
/** Small blocks that are looked at, and merged, at a time. */
const MOST_BLOCKS = 256;
/** A block is merged with newer ones that have so much of it together. */
const GROWTH = 0.5;

/** A block of all tenants together. */
export interface BlockSize {
  readonly block: number;
  readonly seq: number;
  readonly records: number;
  readonly bytes: number;
}

/** Finds blocks that are better merged. It remembers where the small ones begin, so that it does not look through all. */
export class LogMerger {
  /** No block before this one is small. */
  #from = 0;

  /**
   * Which blocks to merge next, newest first; none where nothing is gained.
   *
   * @param bound the last commit that the oldest read expects in the cold file
   */
  async next(connection: Connection, bound: number): Promise<BlockSize[]> {
    const [newest] = await connection.rows(
      'SELECT coalesce(max(block), 0) AS block FROM cold.main.log_blocks',
    );
    const last = Number(newest?.block);
    // Retention has removed them all, and numbers begin anew.
    if (last < this.#from - 1) this.#from = 0;
    const rows = await connection.rows(
      `SELECT block, max(seq) AS seq, sum(records)::BIGINT AS records, sum(bytes)::BIGINT AS bytes
        FROM cold.main.log_blocks WHERE block >= ${this.#from} GROUP BY block
        HAVING sum(records) < ${BLOCK_RECORDS * SMALL} AND sum(bytes) < ${BLOCK_BYTES * SMALL}
        ORDER BY block DESC LIMIT ${MOST_BLOCKS}`,
    );
    const small = rows.map((row): BlockSize => {
      return {
        block: Number(row.block),
        seq: Number(row.seq),
        records: Number(row.records),
        bytes: Number(row.bytes),
      };
    });
    if (small.length < MOST_BLOCKS) this.#from = small.at(-1)?.block ?? last + 1;
    // Of one that a read under way does not see, it would see the records neither here nor there, or twice.
    return blocksToMerge(small.filter(({ seq }) => seq <= bound));
  }
}

/**
 * Of small blocks, newest first, those to merge: neighbours of which each is no more than twice as large as the newer ones
 * together. What is left over is a row of blocks each more than twice as large as all newer ones, so there are few, and what is
 * merged grows each time by a share of itself, so no record is written often.
 */
export function blocksToMerge(small: readonly BlockSize[]): BlockSize[] {
  for (let start = 0; start < small.length; start++) {
    const run: BlockSize[] = [];
    let [records, bytes] = [0, 0];
    for (const block of small.slice(start)) {
      const isFull = records + block.records > BLOCK_RECORDS || bytes + block.bytes > BLOCK_BYTES;
      if (isFull || (run.length > 0 && block.records * GROWTH > records)) break;
      run.push(block);
      records += block.records;
      bytes += block.bytes;
    }
    if (run.length > 1) return run;
  }
  return [];
}

/**
 * Writes blocks anew as one. Records get other numbers; reads under way must not look at two states of the cold file, and
 * every one of them must see all of these blocks.
 *
 * @param connection is in no transaction, and nobody else writes to the cold file
 * @param sliceRows rows to be written by one statement
 * @param pause called between statements; it throws when this is to be given up
 */
export async function mergeBlocks(
  connection: Connection,
  sources: readonly BlockSize[],
  sliceRows: number,
  pause: () => Promise<void>,
): Promise<void> {
  const records = sources.reduce((sum, source) => sum + source.records, 0);
  // Of what is written by one statement there is nothing to be spread over time.
  const rest = records <= sliceRows ? () => Promise.resolve() : pause;
  const numbers = sources.map(({ block }) => block).sort((a, b) => a - b);
  const seq = sources.reduce((most, source) => Math.max(most, source.seq), 0);
  try {
    const rows = await copyRecords(connection, numbers, rest);
    await inTransaction(connection, async () => {
      // Behind all others, those among them whose place it takes.
      const [next] = await connection.rows('SELECT max(block) + 1 AS block FROM cold.main.log_blocks');
      const block = Number(next?.block);
      await dropBlocks(connection, numbers);
      await rest();
      await writeBlock(connection, { seq, block, rows }, sliceRows, rest);
      await checkRecords(connection, block, records);
    });
  } finally {
    await connection.run('DROP TABLE IF EXISTS temp.merged_logs');
  }
}

/** Outside the transaction: until they are committed, rows have other row ids. */
async function copyRecords(
  connection: Connection,
  blocks: readonly number[],
  pause: () => Promise<void>,
): Promise<Block['rows']> {
  await connection.run('CREATE OR REPLACE TEMP TABLE merged_logs AS SELECT * FROM cold.main.logs LIMIT 0');
  for (const run of runsOf(blocks)) {
    await connection.run(`INSERT INTO temp.merged_logs SELECT * FROM cold.main.logs WHERE ${isInRun(run)}`);
    await pause();
  }
  const [last] = await connection.rows('SELECT coalesce(max(rowid), -1) AS row FROM temp.merged_logs');
  return { table: 'temp.merged_logs', from: 0, to: Number(last?.row) + 1 };
}

/** @throws where the block does not have as many records as its sources have: then all stays as it was */
async function checkRecords(connection: Connection, block: number, expected: number): Promise<void> {
  const [found] = await connection.rows(
    `SELECT (SELECT coalesce(sum(records), 0)::BIGINT FROM cold.main.log_blocks WHERE block = ${block}) AS noted,
      (SELECT count(*) FROM cold.main.logs WHERE ${isInRun({ first: block, last: block })}) AS written`,
  );
  if (Number(found?.noted) === expected && Number(found?.written) === expected) return;
  throw new Error(
    `merged log blocks have ${expected} records, ${Number(found?.written)} of which were written`,
  );
}
