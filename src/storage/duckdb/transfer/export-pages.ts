import type { FileSize } from '../../transfer/table-files.js';
import { ofCommitsBetween, type OfCommits } from '../segments/commit-ranges.js';
import type { Connection } from '../files/connection.js';
import { int64At } from '../files/plain-rows.js';

/** Commits are first counted in groups of 2 to this power, because a store may have as many commits as rows. */
const GROUP_BITS = 10;

/** Consecutive commits with their rows and bytes. */
interface Step {
  readonly first: number;
  last: number;
  rows: number;
  bytes: number;
}

/**
 * Divides rows into pages by the commits that wrote them. Only a single commit may exceed the size of a page.
 *
 * @param weights a SELECT of `seq`, `rows` and `bytes` of the rows that meet a condition
 * @returns the conditions of the pages, in order, and the number of all rows
 */
export async function exportPages(
  connection: Connection,
  weights: (page: OfCommits | 'TRUE') => string,
  { rows: mostRows, bytes: mostBytes }: FileSize,
): Promise<{ readonly pages: readonly OfCommits[]; readonly rows: number }> {
  const pages: Step[] = [];
  const add = (next: Step): void => {
    const page = pages.at(-1);
    if (page === undefined || page.rows + next.rows > mostRows || page.bytes + next.bytes > mostBytes)
      pages.push(next);
    else {
      page.last = next.last;
      page.rows += next.rows;
      page.bytes += next.bytes;
    }
  };
  for (const group of await stepsOf(connection, weights('TRUE'), GROUP_BITS)) {
    const isLarge = group.rows > mostRows || group.bytes > mostBytes;
    if (!isLarge) add(group);
    else (await stepsOf(connection, weights(ofCommitsBetween(group.first, group.last)), 0)).forEach(add);
  }
  return {
    pages: pages.map(({ first, last }) => ofCommitsBetween(first, last)),
    rows: pages.reduce((sum, { rows }) => sum + rows, 0),
  };
}

/** @param bits how many commits make a step: 2 to this power */
async function stepsOf(connection: Connection, weights: string, bits: number): Promise<readonly Step[]> {
  const steps: Step[] = [];
  const sums = `SELECT seq >> ${bits} AS step, sum(rows)::BIGINT, sum(bytes)::BIGINT FROM (${weights}) GROUP BY step ORDER BY step`;
  for await (const chunk of connection.wholeChunks(sums)) {
    const [numbers, rows, bytes] = [chunk.words(0, 8), chunk.words(1, 8), chunk.words(2, 8)];
    for (let i = 0; i < chunk.rows; i++) {
      const first = int64At(numbers, i) * 2 ** bits;
      const last = first + 2 ** bits - 1;
      steps.push({ first, last, rows: int64At(rows, i), bytes: int64At(bytes, i) });
    }
  }
  return steps;
}
