import { ofCommitsBetween, type OfCommits } from '../segments/commit-ranges.js';
import type { Connection } from '../files/connection.js';
import { int64At } from '../files/plain-rows.js';

/** Consecutive commits, both ends included, and the number of their rows. */
export interface CommitPage {
  readonly first: number;
  readonly last: number;
  readonly rows: number;
}

/** Commits are counted in groups of 2 to this power, because a store may have as many commits as spans. */
const STEP_BITS = 4;
const STEP = 2 ** STEP_BITS;

/**
 * Divides rows into pages by commit, because the files store them in that order.
 *
 * @param source a relation with a column `seq`
 * @param size rows per page; more if adjacent commits have more
 */
export async function commitPages(
  connection: Connection,
  source: string,
  size: number,
): Promise<CommitPage[]> {
  const pages: CommitPage[] = [];
  const counts = `SELECT seq >> ${STEP_BITS} AS step, count(*) AS rows FROM ${source} GROUP BY step ORDER BY step`;
  for await (const chunk of connection.wholeChunks(counts)) {
    const steps = chunk.words(0, 8);
    const rows = chunk.words(1, 8);
    for (let row = 0; row < chunk.rows; row++) {
      const first = int64At(steps, row) * STEP;
      const next = { first, last: first + STEP - 1, rows: int64At(rows, row) };
      const page = pages.at(-1);
      if (page === undefined || page.rows + next.rows > size) pages.push(next);
      else pages[pages.length - 1] = { first: page.first, last: next.last, rows: page.rows + next.rows };
    }
  }
  return pages;
}

/** The condition for the rows of a page. */
export function within({ first, last }: CommitPage): OfCommits {
  return ofCommitsBetween(first, last);
}
