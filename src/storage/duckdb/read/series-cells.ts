import type { Micros } from '../../../signal/time.js';
import { HAS_FAILED } from '../../schema/tables.js';
import type { CellsByStart, RunCell } from '../stats/run-cells.js';
import type { Connection } from '../files/connection.js';
import type { Row } from '../files/plain-rows.js';
import { joinNearest, union, type CommitRange } from '../segments/commit-ranges.js';
import { bucketStart } from './model-series.js';
import { number } from '../write/run-summary.js';

/** Maximum number of time ranges; each is a separate scan of every file. */
const MOST_RANGES = 4;
/** Exact, because large sums are read as text. Sums replace `count(*) FILTER (…)`, which takes twice as long. */
const STATS_COLUMNS = `count(*) AS runs, sum((${HAS_FAILED})::TINYINT)::BIGINT AS failed,
  coalesce(sum(success::TINYINT), 0)::BIGINT AS successes, sum(total_cost_usd)::VARCHAR AS nanos, count(total_cost_usd) AS priced,
  sum(total_tokens)::VARCHAR AS tokens, quantile_cont(duration_ms, [0.5, 0.95]) AS percentiles`;

/** A time range; `from` is included, `to` is not. */
export interface Stretch {
  readonly from: Micros;
  readonly to: Micros;
}

/** Which runs are counted. */
export interface CountedRuns {
  /** The runs within some ranges of time, both ends included, as a relation. */
  readonly within: (ranges: readonly CommitRange[]) => string;
  /** The grouping key in SQL: an integer. */
  readonly key: string;
  readonly interval: Micros;
}

/** The cells of a stretch, and the newly read cells of buckets that are entirely within it. */
export interface StretchCells {
  readonly cells: CellsByStart;
  readonly found: CellsByStart;
}

/**
 * The cells of consecutive stretches of time. Known buckets are not read, except the partial ones at the ends.
 *
 * @returns one result per stretch
 */
export async function readCells(
  connection: Connection,
  runs: CountedRuns,
  stretches: readonly Stretch[],
  known: CellsByStart,
): Promise<StretchCells[]> {
  const { interval } = runs;
  const missing = joinNearest(
    union(stretches.flatMap((stretch) => missingIn(stretch, interval, known))),
    MOST_RANGES,
  );
  const read = await cellsWithin(connection, runs, stretches, missing);
  return stretches.map((stretch, place) => {
    const ofStretch = read[place] ?? new Map<Micros, RunCell[]>();
    const cells = new Map<Micros, readonly RunCell[]>();
    const found = new Map<Micros, readonly RunCell[]>();
    for (const { start, first, last } of bucketsOf(stretch, interval)) {
      const isRead = missing.some((range) => range.first <= first && last <= range.last);
      const its = (isRead ? ofStretch.get(start) : known.get(start)) ?? [];
      cells.set(start, its);
      if (isRead && last - first + 1 === interval) found.set(start, its);
    }
    return { cells, found };
  });
}

/** The parts of buckets within a stretch. */
function* bucketsOf(
  { from, to }: Stretch,
  interval: Micros,
): Generator<CommitRange & { readonly start: Micros }> {
  for (let start = Math.floor(from / interval) * interval; start < to; start += interval)
    yield { start, first: Math.max(start, from), last: Math.min(start + interval, to) - 1 };
}

function missingIn(stretch: Stretch, interval: Micros, known: CellsByStart): CommitRange[] {
  return [...bucketsOf(stretch, interval)].filter(
    ({ start, first, last }) => last - first + 1 < interval || !known.has(start),
  );
}

/** The cells of the runs within some ranges, for each stretch by the starts of buckets. */
async function cellsWithin(
  connection: Connection,
  { within, key, interval }: CountedRuns,
  stretches: readonly Stretch[],
  ranges: readonly CommitRange[],
): Promise<readonly Map<Micros, RunCell[]>[]> {
  if (ranges.length === 0) return [];
  const place = [
    '0',
    ...stretches.slice(1).map(({ from }) => `(started_at >= make_timestamp(${from}))::INTEGER`),
  ];
  const by = `(${place.join(' + ')})::INTEGER AS place, ${bucketStart('epoch_us(started_at)', interval)} AS bucket, (${key})::INTEGER AS key`;
  const runs = within(ranges);
  const rows = await connection.rows(
    `SELECT * EXCLUDE (percentiles), percentiles[1] AS p50_ms, percentiles[2] AS p95_ms
     FROM (SELECT ${by}, ${STATS_COLUMNS} FROM ${runs} GROUP BY place, bucket, key)`,
  );
  const found = stretches.map(() => new Map<Micros, RunCell[]>());
  for (const row of rows) {
    const [at, start] = [Number(row.place), Number(row.bucket)];
    const cell = cellOf(row);
    const cells = found[at]?.get(start);
    if (cells === undefined) found[at]?.set(start, [cell]);
    else cells.push(cell);
  }
  return found;
}

function cellOf(row: Row): RunCell {
  return {
    key: Number(row.key),
    runs: Number(row.runs),
    failed: Number(row.failed),
    successes: Number(row.successes),
    nanos: typeof row.nanos === 'string' ? BigInt(row.nanos) : null,
    priced: Number(row.priced),
    tokens: typeof row.tokens === 'string' ? BigInt(row.tokens) : null,
    p50_ms: number(row.p50_ms),
    p95_ms: number(row.p95_ms),
  };
}
