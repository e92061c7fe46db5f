import { TRACES } from '../../tables.js';
import { CommitRanges, conditionsOn } from '../commit-ranges.js';
import type { Connection, Value } from '../connection.js';
import { newest } from '../relation.js';
import type { Capture } from '../segment.js';

/** Of all commits there are so many places at most. */
const MOST_PLACES = 2048;
/** In so many places runs are looked for there alone; of more, most row groups have some. */
const FEW_PLACES = 32;

/** Neighbouring commits that brought runs that match. */
interface Place {
  readonly first: number;
  readonly last: number;
  readonly runs: number;
}

/** Where the runs lie that match: one look at each, and at no column but those of the filter and the commit. */
export async function matchingPlaces(
  connection: Connection,
  capture: Capture,
  {
    tenant,
    sql,
    values,
  }: { readonly tenant: number; readonly sql: string; readonly values: readonly Value[] },
): Promise<readonly Place[]> {
  const width = Math.max(1, Math.ceil(capture.lastSeq / MOST_PLACES));
  const rows = await connection.rows(
    `SELECT min(seq) AS first, max(seq) AS last, count(*) AS runs FROM ${newest(capture, TRACES, `tenant = ${tenant}`)} WHERE ${sql} GROUP BY seq // ${width}`,
    values,
  );
  return rows.map((row) => ({ first: Number(row.first), last: Number(row.last), runs: Number(row.runs) }));
}

export function countIn(places: readonly Place[]): number {
  return places.reduce((sum, { runs }) => sum + runs, 0);
}

/** Conditions on the commits that are to be looked through for them. @param places null where they are not known */
export function conditionsOnPlaces(places: readonly Place[] | null): string[] {
  if (places === null || places.length > FEW_PLACES) return ['TRUE'];
  return conditionsOn(places.map(({ first, last }) => CommitRanges.stored({ first, last, printed: null })));
}
