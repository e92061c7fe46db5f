import type { FileSize } from '../../transfer/table-files.js';
import { ofCommitsBetween, type OfCommits } from '../rows/commit-ranges.js';
import type { Connection } from '../files/connection.js';
import { int64At } from '../files/plain-rows.js';

/** Commits are counted in groups of 2 to this power, because a store may have as many commits as rows. */
const STEP_BITS = 4;
const STEP = 2 ** STEP_BITS;

/**
 * Cuts rows into pages by the commits that brought them.
 *
 * @param weights a SELECT of `seq`, `rows` and `bytes`
 * @returns the conditions of the pages, in their order, and the number of all rows
 */
export async function exportPages(
  connection: Connection,
  weights: string,
  { rows: mostRows, bytes: mostBytes }: FileSize,
): Promise<{ readonly pages: readonly OfCommits[]; readonly rows: number }> {
  const pages: { first: number; last: number; rows: number; bytes: number }[] = [];
  const steps = `SELECT seq >> ${STEP_BITS} AS step, sum(rows)::BIGINT, sum(bytes)::BIGINT FROM (${weights}) GROUP BY step ORDER BY step`;
  for await (const chunk of connection.wholeChunks(steps)) {
    const [numbers, rows, bytes] = [chunk.words(0, 8), chunk.words(1, 8), chunk.words(2, 8)];
    for (let i = 0; i < chunk.rows; i++) {
      const first = int64At(numbers, i) * STEP;
      const next = { first, last: first + STEP - 1, rows: int64At(rows, i), bytes: int64At(bytes, i) };
      const page = pages.at(-1);
      if (page === undefined || page.rows + next.rows > mostRows || page.bytes + next.bytes > mostBytes)
        pages.push(next);
      else {
        page.last = next.last;
        page.rows += next.rows;
        page.bytes += next.bytes;
      }
    }
  }
  return {
    pages: pages.map(({ first, last }) => ofCommitsBetween(first, last)),
    rows: pages.reduce((sum, { rows }) => sum + rows, 0),
  };
}
