import type { Connection } from '../files/connection.js';
import { dropBlocks, isInRun, runsOf } from './block-runs.js';
import { inTransaction } from './in-transaction.js';
import { BLOCK_BYTES, BLOCK_RECORDS, writeBlock, type Block } from './move-logs.js';

/** Blocks with less than this share of the records and bytes that a block may hold are small. */
const SMALL = 0.5;
/** Blocks that are looked at, counted from the newest: small ones that lie further back stay as they are. */
const LOOKED_AT = 1024;
/** Blocks that are merged at a time. */
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

/** Merges small blocks. It remembers where they begin, so that it does not look through all of them each time. */
export class LogMerger {
  readonly #connection: Connection;
  /** Of those looked at last, the first small block, or the newest one. */
  #from = 0;
  #merged = 0;

  /** @param connection the mover's */
  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Blocks that were merged with others since the start. */
  get merged(): number {
    return this.#merged;
  }

  /**
   * Merges the blocks that it is best to merge now, of one block's records at most.
   *
   * @param bound the last commit that the oldest read under way expects in the cold file
   * @param breathe called between statements; what it throws gives the merge up
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
        FROM cold.main.log_blocks WHERE block >= ${this.#from} GROUP BY block
        ORDER BY block DESC LIMIT ${LOOKED_AT}`,
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
      ({ records, bytes }) => records < BLOCK_RECORDS * SMALL && bytes < BLOCK_BYTES * SMALL,
    );
    // None at all: retention has removed the newest ones, and numbers may begin anew.
    this.#from = (small.at(-1) ?? blocks[0])?.block ?? 0;
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
 * Writes blocks anew as one. Records get other numbers; reads under way must not look at two states of the cold file, and
 * every one of them must see all of these blocks.
 *
 * @param connection is in no transaction, and nobody else writes to the cold file
 * @param sliceRows rows to be written by one statement
 * @param breathe called between statements; what it throws gives the merge up
 */
async function mergeBlocks(
  connection: Connection,
  sources: readonly BlockSize[],
  sliceRows: number,
  breathe: () => Promise<void>,
): Promise<void> {
  const records = sources.reduce((sum, source) => sum + source.records, 0);
  // Of what is written by one statement there is nothing to be spread over time.
  const pause = records <= sliceRows ? () => Promise.resolve() : breathe;
  const numbers = sources.map(({ block }) => block).sort((a, b) => a - b);
  const seq = sources.reduce((most, source) => Math.max(most, source.seq), 0);
  try {
    const rows = await copyRecords(connection, numbers, pause);
    await inTransaction(connection, async () => {
      // Behind all others, those among them whose place it takes.
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
 * @param expected the records that were there: fewer than their blocks say where some were set aside when the file was opened
 * @throws where the new block has others: then all stays as it was
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
