import { removeRows, type Connection } from '../files/connection.js';
import { BLOCK_RECORDS } from './compact-logs.js';

/** Blocks with consecutive numbers, both ends included. */
interface Run {
  readonly first: number;
  readonly last: number;
}

/** Removes blocks with their records and terms, within a transaction. @param blocks ascending @returns how many records */
export async function dropBlocks(connection: Connection, blocks: readonly number[]): Promise<number> {
  let records = 0;
  for (const run of runsOf(blocks)) {
    records += await removeRows(connection, `cold.main.logs WHERE ${isInRun(run)}`);
    for (const table of ['log_terms', 'log_blocks']) {
      await connection.run(`DELETE FROM cold.main.${table} WHERE block BETWEEN ${run.first} AND ${run.last}`);
    }
  }
  return records;
}

/** The condition for the records of some consecutive blocks, in a form that lets a scan skip all other row groups. */
export function isInRun({ first, last }: Run): string {
  return `log_no >= ${first * BLOCK_RECORDS} AND log_no < ${(last + 1) * BLOCK_RECORDS}`;
}

/** Groups consecutive numbers, both ends included. @param numbers ascending */
export function runsOf(numbers: readonly number[]): Run[] {
  const runs: { first: number; last: number }[] = [];
  for (const number of numbers) {
    const run = runs.at(-1);
    if (run?.last === number - 1) run.last = number;
    else runs.push({ first: number, last: number });
  }
  return runs;
}
