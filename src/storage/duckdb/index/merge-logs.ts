import type { Connection } from '../files/connection.js';
import { dropBlocks, isInRun, runsOf } from './block-runs.js';
import { inTransaction } from './in-transaction.js';
import { BLOCK_BYTES, BLOCK_RECORDS, writeBlock, type Block } from './compact-logs.js';

/** A block is small with less than this share of the records and bytes that it may hold. */
const SMALL = 0.5;
/** How many of the newest blocks are considered: small older blocks are never merged. */
const LOOKED_AT = 1024;
/** How many blocks are merged at a time. */
const MOST_BLOCKS = 256;
/** A block is merged with newer ones that together have at least this share of its size. */
const GROWTH = 0.5;

/** Number of rows of a column that DuckDB decompresses to return one of them. */
const ROWS_READ = 2048;
/** Maximum size of the texts that reading one record decompresses during a merge. */
const MOST_READ = 64 * 1024 * 1024;

/** The size of a block, over all users. */
export interface BlockSize {
  readonly block: number;
  readonly seq: number;
  readonly records: number;
  readonly bytes: number;
}

/** Merges small blocks. It remembers where these begin, so that it need not look through all blocks each time. */
export class LogMerger {
  readonly #connection: Connection;
  /** The first small block at the last look, or the newest block. */
  #from = 0;
  #merged = 0;

  /** @param connection the compactor's */
  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Blocks that were merged with others since the start. */
  get merged(): number {
    return this.#merged;
  }

  /**
   * Merges the best candidates, up to the records of one block.
   *
   * @param bound the last commit that the oldest running read expects in the cold file
   * @param breathe called between statements; the merge is aborted if it throws
   */
  async mergeNext(bound: number, sliceRows: number, breathe: () => Promise<void>): Promise<void> {
    const sources = await this.#next(bound);
    if (sources.length === 0) return;
    await mergeBlocks(this.#connection, sources, sliceRows, breathe);
    this.#merged += sources.length;
  }

  /** Which blocks to merge, newest first. */
  async #next(bound: number): Promise<BlockSize[]> {
    const rows = await this.#connection.rows(
      `SELECT block, max(seq) AS seq, sum(records)::BIGINT AS records, sum(bytes)::BIGINT AS bytes
        FROM cold.main.log_blocks WHERE block >= ${this.#from - ROWS_READ} GROUP BY block
        ORDER BY block DESC LIMIT ${LOOKED_AT + ROWS_READ}`,
    );
    const blocks = rows.map((row): BlockSize => {
      return {
        block: Number(row.block),
        seq: Number(row.seq),
        records: Number(row.records),
        bytes: Number(row.bytes),
      };
    });
    const small = blocks.filter(
      ({ block, records, bytes }, i) =>
        block >= this.#from &&
        i < LOOKED_AT &&
        records < BLOCK_RECORDS * SMALL &&
        bytes < BLOCK_BYTES * SMALL &&
        !isCrowded(blocks, i),
    );
    // If there is none, retention may have removed the newest blocks, and numbers may start again.
    this.#from = (small.at(-1) ?? blocks[0])?.block ?? 0;
    // A running read that does not see a block yet would find its records neither here nor there, or twice.
    return blocksToMerge(small.filter(({ seq }) => seq <= bound));
  }
}

/** Whether a read of a block's records reads too much of neighbouring ones. @param blocks in their order in the file */
export function isCrowded(blocks: readonly BlockSize[], at: number): boolean {
  let bytes = blocks[at]?.bytes ?? 0;
  for (const step of [-1, 1]) {
    let rows = 0;
    for (let i = at + step; rows < ROWS_READ && bytes <= MOST_READ; i += step) {
      const block = blocks[i];
      if (block === undefined) break;
      rows += block.records;
      // Of a long block, only its rows that are read.
      bytes += block.bytes * Math.min(1, ROWS_READ / block.records);
    }
  }
  return bytes > MOST_READ;
}

/**
 * Selects the small blocks to merge, newest first: neighbours, each no more than twice as large as the newer ones together. The
 * remaining blocks are each more than twice as large as all newer ones, so there are few; and each merge grows a block by a fixed
 * share, so no record is rewritten often.
 */
export function blocksToMerge(small: readonly BlockSize[]): BlockSize[] {
  for (let start = 0; start < small.length; start++) {
    const run: BlockSize[] = [];
    let [records, bytes] = [0, 0];
    for (const block of small.slice(start, start + MOST_BLOCKS)) {
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
 * Rewrites several blocks as one. Their records get new numbers, so a running read must not use two states of the cold file, and
 * every running read must see all of these blocks.
 *
 * @param connection is in no transaction, and is the only writer of the cold file
 * @param sliceRows rows written per statement
 * @param breathe called between statements; the merge is aborted if it throws
 */
async function mergeBlocks(
  connection: Connection,
  sources: readonly BlockSize[],
  sliceRows: number,
  breathe: () => Promise<void>,
): Promise<void> {
  const records = sources.reduce((sum, source) => sum + source.records, 0);
  // What one statement writes cannot be spread over time anyway.
  const pause = records <= sliceRows ? () => Promise.resolve() : breathe;
  const numbers = sources.map(({ block }) => block).sort((a, b) => a - b);
  const seq = sources.reduce((most, source) => Math.max(most, source.seq), 0);
  try {
    const rows = await copyRecords(connection, numbers, pause);
    await inTransaction(connection, async () => {
      // The new number is above all others, including those of the merged blocks.
      const [next] = await connection.rows('SELECT max(block) + 1 AS block FROM cold.main.log_blocks');
      const block = Number(next?.block);
      await dropBlocks(connection, numbers);
      await pause();
      await writeBlock(connection, { seq, block, rows }, sliceRows, pause);
      await checkRecords(connection, block, rows.to);
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

/**
 * @param expected the number of records: less than the sum over their blocks if some were quarantined when the file was opened
 * @throws if the new block has a different number of records; the transaction is then rolled back
 */
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
