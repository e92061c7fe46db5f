import { TRACES } from '../../schema/tables.js';
import { CommitRanges, conditionsOn, narrowed, type OfCommits } from '../segments/commit-ranges.js';
import type { Connection } from '../files/connection.js';
import { newest, type Condition } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';

/** Maximum number of places for all commits. */
const MOST_PLACES = 2048;

/** Adjacent commits with matching runs. */
interface Place {
  readonly first: number;
  readonly last: number;
  readonly runs: number;
  /** When the first and the last of them started, in microseconds. */
  readonly oldest: number;
  readonly newest: number;
}

/**
 * The places of matching runs. Reads each run once, and only the columns of the filter, the start and the commit.
 *
 * @param where mutually exclusive conditions for matching runs
 * @param also a further condition, which may name other tables
 */
export async function matchingPlaces(
  connection: Connection,
  capture: Capture,
  where: readonly Condition[],
  also: string,
): Promise<readonly Place[]> {
  const width = Math.max(1, Math.ceil(capture.lastSeq / MOST_PLACES));
  const rows = await connection.rows(
    `SELECT min(seq) AS first, max(seq) AS last, count(*) AS runs, epoch_us(min(started_at)) AS oldest, epoch_us(max(started_at)) AS newest
     FROM ${newest(capture, TRACES, where)} WHERE ${also} GROUP BY seq // ${width}`,
  );
  return rows.map((row) => ({
    first: Number(row.first),
    last: Number(row.last),
    runs: Number(row.runs),
    oldest: Number(row.oldest),
    newest: Number(row.newest),
  }));
}

export function countIn(places: readonly Place[]): number {
  return places.reduce((sum, { runs }) => sum + runs, 0);
}

/**
 * Conditions that select the newest of the matching runs, and as few others as the places allow; each run meets one at most.
 *
 * @param runs how many of the newest are wanted
 */
export function conditionsOnPage(places: readonly Place[], runs: number): OfCommits[] {
  let since = -Infinity;
  let left = runs;
  // The places with the newest starts that have enough runs together: nothing older than their oldest is wanted.
  for (const place of places.toSorted((a, b) => b.oldest - a.oldest)) {
    since = place.oldest;
    if ((left -= place.runs) <= 0) break;
  }
  const there = places
    .filter((place) => place.newest >= since)
    .map(({ first, last }) => CommitRanges.stored({ first, last, printed: null }));
  return conditionsOn(there).map((commits) => narrowed(commits, `started_at >= make_timestamp(${since})`));
}
