import { RUN_STATUSES } from '../../../signal/span.js';
import type { Micros } from '../../../signal/time.js';
import { RUN_SUMS } from '../../schema/sum-tables.js';
import { POINTS, TRACES } from '../../schema/tables.js';
import type { Connection } from '../files/connection.js';
import { rederiveAgentSpans, noteMovedAgentSpans } from './agent-spans.js';
import { movedRuns } from './agents-of-runs.js';
import { rederiveCallSums, noteMovedCallSums, type AroundMove } from './call-sums.js';
import { hotPartsOf, isVersionOf, rowsOf } from './relation.js';
import type { Capture, Segment } from './segment.js';

/** The sums over an agent's runs as the tables hold them, in the order of the columns of `RUN_SUMS`. */
export type StoredSums = readonly number[];

/** One US dollar in nano-USD. */
export const COST_UNITS = 1_000_000_000;

/**
 * Sums over rows of the cold file are stored in the same file. Code that adds or removes such rows updates them in the same
 * transaction, so a start reads the sums, and rows only from hot segments.
 */

const SUMS = RUN_SUMS.wire.slice(1).map(({ name }) => name);
const COST = 'total_cost_usd';
const WHOLE = `${COST} // ${COST_UNITS}`;

/** The parts that header rows add to `run_sums`, or subtract from it if `sign` is -1. */
function partsOf(rows: string): string {
  const count = (condition: string): string => `sum(CASE WHEN ${condition} THEN sign ELSE 0 END)::BIGINT`;
  const parts = [
    'sum(sign)::BIGINT',
    ...RUN_STATUSES.map((_, status) => count(`status = ${status}`)),
    count('success'),
    count('NOT success'),
    count('total_cost_usd IS NOT NULL'),
    `coalesce(sum(sign * (${WHOLE})), 0)::BIGINT`,
    `coalesce(sum(sign * (${COST} - (${WHOLE}) * ${COST_UNITS})), 0)::BIGINT`,
  ];
  return `SELECT tenant, agent_no, ${parts.map((part, i) => `${part} AS ${SUMS[i]}`).join(', ')} FROM (${rows}) GROUP BY tenant, agent_no`;
}

const FACTS = 'tenant, agent_no, status, success, total_cost_usd';

/** The newest versions of some headers, with sign -1 for those in the cold file that they replace. */
function changesBy(hot: string, replaces: boolean): string {
  if (!replaces) return `SELECT 1 AS sign, ${FACTS} FROM ${hot}`;
  const newer = `(SELECT tenant, trace_id, seq FROM ${hot} WHERE replaces) n`;
  return `SELECT 1 AS sign, ${FACTS} FROM ${hot} o WHERE NOT EXISTS (SELECT 1 FROM ${newer} WHERE ${isVersionOf(TRACES, 'n', 'o')} AND n.seq > o.seq)
    UNION ALL SELECT -1 AS sign, ${FACTS} FROM cold.main.traces c WHERE EXISTS (SELECT 1 FROM ${newer} WHERE ${isVersionOf(TRACES, 'n', 'c')} AND n.seq > c.seq)`;
}

/** Updates the sums for a segment. Call within the transaction of its compaction, before the rows are copied. */
export async function noteMove(connection: Connection, segment: Segment, around: AroundMove): Promise<void> {
  const { catalog, lastSeq } = segment;
  const replaces = (segment.replacing.get(TRACES.name) ?? 0) > 0;
  const parts = partsOf(changesBy(rowsOf(segment, TRACES), replaces));
  await connection.run(`INSERT INTO cold.main.run_sums SELECT ${lastSeq}, * FROM (${parts})`);
  await connection.run(
    `INSERT INTO cold.main.point_sums SELECT ${lastSeq}, tenant, stream_no, count(*), min(timestamp), max(timestamp) FROM ${catalog}.main.points GROUP BY tenant, stream_no`,
  );
  const runs = await movedRuns(connection, segment, around.isAnyQuarantined);
  await noteMovedCallSums(connection, segment, around, runs);
  await noteMovedAgentSpans(connection, segment, runs);
}

/** Subtracts headers that are about to be removed. Call within the transaction. @param where which ones */
export async function noteRemovedRuns(connection: Connection, where: string): Promise<void> {
  const gone = `SELECT -1 AS sign, ${FACTS} FROM cold.main.traces WHERE ${where}`;
  await connection.run(`INSERT INTO cold.main.run_sums SELECT 0, * FROM (${partsOf(gone)})`);
}

/** Subtracts points that are about to be removed. Call within the transaction. */
export async function noteRemovedPoints(connection: Connection, where: string): Promise<void> {
  await connection.run(
    `INSERT INTO cold.main.point_sums SELECT 0, tenant, stream_no, -count(*), min(timestamp), max(timestamp) FROM cold.main.points WHERE ${where} GROUP BY tenant, stream_no`,
  );
}

/** Rebuilds all sums from the rows. Call within the transaction that changed the rows in an unknown way. */
export async function rederiveSums(connection: Connection): Promise<void> {
  for (const table of ['run_sums', 'point_sums']) await connection.run(`DELETE FROM cold.main.${table}`);
  const runs = partsOf(changesBy('cold.main.traces', false));
  await connection.run(`INSERT INTO cold.main.run_sums SELECT 0, * FROM (${runs})`);
  await connection.run(
    `INSERT INTO cold.main.point_sums SELECT 0, tenant, stream_no, count(*), min(timestamp), max(timestamp) FROM cold.main.points GROUP BY tenant, stream_no`,
  );
  await rederiveCallSums(connection);
  await rederiveAgentSpans(connection);
}

/** The sums over the runs of every agent, by agent number. Call while no compaction runs. */
export async function storedSums(
  connection: Connection,
  capture: Capture,
): Promise<ReadonlyMap<number, StoredSums>> {
  const columns = ['tenant', 'agent_no', ...SUMS].join(', ');
  const hot = hotPartsOf(capture, TRACES, 'TRUE');
  const replaces = capture.hot.some((segment) => (segment.replacing.get(TRACES.name) ?? 0) > 0);
  const parts = [`SELECT ${columns} FROM cold.main.run_sums`];
  if (hot.length > 0) parts.push(partsOf(changesBy(`(${hot.join(' UNION ALL ')})`, replaces)));
  // The fractions of many costs may exceed the range of exact numbers, so whole dollars are carried over here.
  const carried = `sum(cost_rest) // ${COST_UNITS}`;
  const sums = SUMS.map((name) => {
    if (name === 'cost_whole') return `(sum(cost_whole) + ${carried})::DOUBLE AS cost_whole`;
    if (name === 'cost_rest') return `(sum(cost_rest) - ${carried} * ${COST_UNITS})::DOUBLE AS cost_rest`;
    return `sum(${name})::DOUBLE AS ${name}`;
  });
  const rows = await connection.rows(
    `SELECT agent_no, ${sums.join(', ')} FROM (${parts.join(' UNION ALL ')}) GROUP BY agent_no`,
  );
  return new Map(rows.map((row) => [Number(row.agent_no), SUMS.map((name) => Number(row[name]))]));
}

/** The number of points of a stream, and the earliest and latest time of any point so far. */
export interface StreamSums {
  readonly streamNo: number;
  readonly points: number;
  readonly oldest: Micros;
  readonly newest: Micros;
}

/** The sums of every stream that has or had points. Call while no compaction runs. */
export async function storedPointSums(connection: Connection, capture: Capture): Promise<StreamSums[]> {
  const hot = hotPartsOf(capture, POINTS, 'TRUE').map(
    (points) => `SELECT stream_no, 1 AS points, timestamp AS oldest, timestamp AS newest FROM (${points})`,
  );
  const parts = ['SELECT stream_no, points, oldest, newest FROM cold.main.point_sums', ...hot];
  const rows = await connection.rows(
    `SELECT stream_no, sum(points)::BIGINT AS points, epoch_us(min(oldest)) AS oldest, epoch_us(max(newest)) AS newest FROM (${parts.join(' UNION ALL ')}) GROUP BY stream_no`,
  );
  return rows.map((row) => ({
    streamNo: Number(row.stream_no),
    points: Number(row.points),
    oldest: Number(row.oldest),
    newest: Number(row.newest),
  }));
}
