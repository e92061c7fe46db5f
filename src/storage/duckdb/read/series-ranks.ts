import { doubleAt, intAt } from '../../../signal/checked.js';
import { durationBucket, DurationRanks, type DurationPlace } from '../stats/duration-counts.js';
import type { RunCell } from '../stats/run-cells.js';
import type { Connection } from '../files/connection.js';

/** Some runs whose percentiles are wanted. */
export interface RankedRuns {
  /** All of their cells. */
  readonly cells: readonly RunCell[];
  /** A relation that has them. */
  readonly runs: string;
  /** Which of it they are, by the value of `by`. */
  readonly key: number;
  /** In SQL. */
  readonly by: string;
}

export interface Percentiles {
  readonly p50_ms: number | null;
  readonly p95_ms: number | null;
}

interface Wanted extends DurationPlace {
  readonly of: RankedRuns;
}

const NONE: Percentiles = { p50_ms: null, p95_ms: null };
const RANKS = new DurationRanks();

/**
 * The exact percentiles of the durations of runs: their cells say where they lie, and the few per cent of durations around them are read.
 *
 * @returns one for each; null where the cells do not say what the tables do
 */
export async function readPercentiles(
  connection: Connection,
  ranked: readonly RankedRuns[],
): Promise<readonly Percentiles[] | null> {
  const wanted: Wanted[] = [];
  const places = ranked.map((of) => {
    if (of.cells.length < 2) return null;
    RANKS.take(of.cells.map(({ durations }) => durations));
    return [50, 95].map((percent) => {
      const place = RANKS.find(percent);
      return place === null ? null : wanted.push({ of, ...place }) - 1;
    });
  });
  const found = await durationsAt(connection, wanted);
  if (found === null) return null;
  const valueOf = (at: number | null | undefined): number | null =>
    at === null || at === undefined ? null : (found[at] ?? null);
  return ranked.map(({ cells: [only = NONE] }, i) => {
    const at = places[i];
    return at
      ? { p50_ms: valueOf(at[0]), p95_ms: valueOf(at[1]) }
      : { p50_ms: only.p50_ms, p95_ms: only.p95_ms };
  });
}

/** The duration at each place; null where one of them is not there. */
async function durationsAt(connection: Connection, wanted: readonly Wanted[]): Promise<number[] | null> {
  if (wanted.length === 0) return [];
  const statement = partsOf(wanted).join(' UNION ALL ');
  const lists = wanted.map((): number[] => []);
  for await (const chunk of connection.wholeChunks(statement)) {
    const places = new Int32Array(chunk.words(0, 4));
    const words = chunk.words(1, 8);
    const durations = new Float64Array(words.buffer, words.byteOffset, chunk.rows);
    for (let row = 0; row < chunk.rows; row++) lists[intAt(places, row)]?.push(doubleAt(durations, row));
  }
  const values = wanted.map(({ count, skip }, at) => {
    const list = Float64Array.from(lists[at] ?? []).sort();
    return list.length === count ? list[skip] : undefined;
  });
  return values.every((value) => value !== undefined) ? values : null;
}

/** One scan of each relation for all places in it: to find the bucket of every duration takes less than several scans by bounds. */
function partsOf(wanted: readonly Wanted[]): string[] {
  const sources = new Map<string, string[]>();
  for (const [place, { of, bucket }] of wanted.entries()) {
    const source = `(SELECT (${of.by})::INTEGER AS key, duration_ms, ${durationBucket('duration_ms')} AS lies_in FROM ${of.runs} WHERE duration_ms IS NOT NULL)`;
    const places = sources.get(source) ?? [];
    places.push(`(${place}::INTEGER, ${of.key}::INTEGER, ${bucket}::INTEGER)`);
    sources.set(source, places);
  }
  return [...sources].map(
    ([source, places]) =>
      `SELECT w.place, r.duration_ms FROM ${source} r JOIN (VALUES ${places.join(', ')}) w(place, key, bucket) ON r.key = w.key AND r.lies_in = w.bucket`,
  );
}
