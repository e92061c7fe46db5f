import { SUMMED_PARTS } from '../../../signal/call-details.js';
import { CALL_SUMS } from '../../schema/sum-tables.js';
import { SPANS } from '../../schema/tables.js';
import type { Connection } from '../files/connection.js';
import { COLD_RUNS, withAgent, type MovedRuns } from './agents-of-runs.js';
import { COUNTS_USAGE, REPORTS_USAGE, TOKEN_COLUMNS, withTokens } from './call-tokens.js';
import { CommitRanges, conditionsOn } from './commit-ranges.js';
import { isVersionOf, newestOf, rowsOf } from './relation.js';
import type { Segment } from './segment.js';

/**
 * Sums of the model calls in the cold file, and of what other spans report beyond calls, by hour, agent and the tokens that prices need (`CALL_SUMS`). For every bound of a
 * read, the parts up to it equal the sums over the spans and headers up to it. Code that adds or removes these rows updates the
 * sums in the same transaction, and records a removal under a commit that only those reads see that saw the span. If the agent of a
 * run changes, its calls are counted for the new agent.
 */

const TABLE = `cold.main.${CALL_SUMS.name}`;
const COLD_SPANS = `cold.main.${SPANS.name}`;
/** The columns after the tenant. */
export const CALL_PARTS = CALL_SUMS.wire.map(({ name }) => name).join(', ');

/** The columns of a span that the sums need. */
const COUNTED = `model, started_at, ${TOKEN_COLUMNS}`;
const HOUR_US = 3_600_000_000;
/** The columns of the sums. */
const TOKENS_OF = { in: 'input_tokens', out: 'output_tokens', all: 'total_tokens' } as const;

/**
 * The parts that calls add to the sums or subtract from them.
 *
 * @param rows from {@link callsOf}, {@link callsOfReplaced} and {@link callsOfChanged}
 * @param by columns to group by, in addition to those of the sums
 */
export function sumsOfCalls(rows: readonly string[], by: readonly string[] = []): string {
  const counted = `(SELECT * FROM (${rows.join(' UNION ALL ')}) WHERE ${COUNTS_USAGE})`;
  const came = 'CASE WHEN sign > 0 THEN started_at END';
  const gone = 'CASE WHEN is_gone THEN started_at END';
  const sum = (column: string, name = column): string =>
    `coalesce(sum(sign * ${column}), 0)::HUGEINT AS ${name}`;
  const usage = [
    sum('paid', 'nanos'),
    ...(['in', 'out', 'all'] as const).map((of) => sum(`${of}_tokens`, TOKENS_OF[of])),
  ];
  const hour = `(epoch_us(date_trunc('hour', started_at)) // ${HOUR_US})::INTEGER`;
  const parts = SUMMED_PARTS.map((part) => `of_${part}`);
  return `SELECT ${[...by, ''].join(', ')}${hour} AS hour, model, told, sum(sign)::BIGINT AS calls,
    ${[...usage, ...parts.map((part) => sum(part))].join(', ')},
    max(input + output + read + written)::BIGINT AS most,
    min(${came}) AS oldest, max(${came}) AS newest, min(${gone}) AS gone_oldest, max(${gone}) AS gone_newest
    FROM ${withTokens(counted)} GROUP BY ALL`;
}

/**
 * The calls among some spans.
 *
 * @param also further columns
 * @param removed whether to subtract them
 */
export function callsOf(spans: string, also = '', removed = false): string {
  return `SELECT ${removed ? '-1' : '1'}::BIGINT AS sign, ${removed ? 'TRUE' : 'FALSE'} AS is_gone, ${COUNTED}${also} FROM ${spans} WHERE ${REPORTS_USAGE}`;
}

/**
 * Calls in the cold file that newer versions among other spans replace; they are subtracted.
 *
 * @param replaced a condition on the spans of the cold file, from {@link replacedCommits}
 * @param newer a relation without versions superseded within it; from {@link withAgent} if `also` includes its `agent_no`
 */
export function callsOfReplaced(replaced: string, newer: string, also = ''): string {
  const columns = COUNTED.split(', ').map((name) => `o.${name}`);
  // Each is removed from its agent, because the newer version may belong to another agent.
  return `SELECT -1::BIGINT AS sign, TRUE AS is_gone, ${columns.join(', ')}${also}
    FROM (SELECT * FROM ${COLD_SPANS} WHERE ${REPORTS_USAGE} AND ${replaced}) o
    JOIN (SELECT * FROM ${newer} WHERE replaces) n ON ${isVersionOf(SPANS, 'n', 'o')} AND n.seq > o.seq`;
}

/**
 * The calls of runs whose agent changed: each is subtracted from the old agent and added to the new one (`agent_no`). Superseded
 * calls are left out, because {@link callsOfReplaced} subtracts them.
 *
 * @param where which spans of the cold file
 * @param newer versions of spans; null if there are none
 */
export function callsOfChanged(changed: string, where: string, newer: string | null, also = ''): string {
  const spans = `(SELECT * FROM ${COLD_SPANS} WHERE ${REPORTS_USAGE} AND ${where})`;
  const left = newer === null ? spans : newestOf(SPANS, spans, `(SELECT * FROM ${newer} WHERE replaces)`);
  const columns = COUNTED.split(', ').map((name) => `o.${name}`);
  return `SELECT s.sign, s.sign < 0 AS is_gone, ${columns.join(', ')}${also}, CASE WHEN s.sign < 0 THEN r.old_no ELSE r.new_no END AS agent_no
    FROM ${left} o JOIN ${changed} r ON r.tenant = o.tenant AND r.trace_id = o.trace_id CROSS JOIN (VALUES (-1::BIGINT), (1::BIGINT)) s(sign)`;
}

/**
 * Conditions on the commits of all versions that some spans replace. Each span names the commit of its previous version, and
 * segments are compacted in order, so the first version after those in the cold file names the commit there. Not usable while any
 * segment is quarantined, because a version in between may be in that segment.
 */
export async function replacedCommits(
  connection: Connection,
  newer: string,
  isAnyQuarantined: boolean,
): Promise<string[]> {
  if (isAnyQuarantined) return ['TRUE'];
  const rows = await connection.rows(
    `SELECT min(replaced_seq) AS first, max(replaced_seq) AS last FROM ${newer} WHERE replaced_seq > 0 GROUP BY replaced_seq // ${NEIGHBOURS}`,
  );
  const places = rows.map(({ first, last }) =>
    CommitRanges.stored({ first: Number(first), last: Number(last), printed: null }),
  );
  return conditionsOn(places).map(({ sql }) => sql);
}

/** Replaced commits within the same block of this many commits share one condition. */
const NEIGHBOURS = 256;

/** Inputs of a compaction in addition to its segment. */
export interface AroundMove {
  /** The last commit that the oldest read expects in the cold file. */
  readonly bound: number;
  /** Whether any segment is quarantined. */
  readonly isAnyQuarantined: boolean;
}

/** Updates the sums for a segment. Call within the transaction of its compaction, before the rows are copied. */
export async function noteMovedCallSums(
  connection: Connection,
  segment: Segment,
  { bound, isAnyQuarantined }: AroundMove,
  { headers, changed }: MovedRuns,
): Promise<void> {
  const { lastSeq } = segment;
  const replaces = (segment.replacing.get(SPANS.name) ?? 0) > 0;
  const hot = rowsOf(segment, SPANS);
  const moved = replaces ? newestOf(SPANS, hot, `(SELECT * FROM ${hot} WHERE replaces)`) : hot;
  const calls = [callsOf(withAgent(moved, headers), `, tenant, ${lastSeq} AS part_seq, agent_no`)];
  const seen = `, o.tenant, ${seenWith('o.seq', bound)} AS part_seq`;
  if (replaces) {
    const newer = withAgent(moved, changed?.before ?? headers);
    for (const commits of await replacedCommits(connection, hot, isAnyQuarantined))
      calls.push(callsOfReplaced(commits, newer, `${seen}, n.agent_no`));
  }
  for (const commits of changed?.commits ?? [])
    calls.push(callsOfChanged(changed?.runs ?? '', commits, replaces ? moved : null, seen));
  await insertParts(connection, calls);
}

/** Subtracts spans that are about to be removed from the cold file. Call within the transaction, before their headers are removed. */
export async function noteRemovedCallSums(
  connection: Connection,
  spans: string,
  bound: number,
): Promise<void> {
  const also = `, tenant, ${seenWith('seq', bound)} AS part_seq, agent_no`;
  await insertParts(connection, [callsOf(withAgent(spans, COLD_RUNS), also, true)]);
}

/** Rebuilds all sums from spans and headers. Call within the transaction that changed them in an unknown way. */
export async function rederiveCallSums(connection: Connection): Promise<void> {
  await connection.run(`DELETE FROM ${TABLE}`);
  const spans = withAgent(COLD_SPANS, COLD_RUNS);
  await insertParts(connection, [callsOf(spans, `, tenant, 0 AS part_seq, agent_no`)]);
}

/**
 * Builds the sums if the store was written before this table existed. Call when the cold file is opened. Takes some seconds for ten
 * million spans, once.
 */
export async function completeCallSums(connection: Connection): Promise<void> {
  const [row] = await connection.rows(
    `SELECT EXISTS (SELECT 1 FROM ${COLD_SPANS} WHERE ${COUNTS_USAGE}) AND NOT EXISTS (SELECT 1 FROM ${TABLE}) AS is_missing`,
  );
  if (row?.is_missing !== true) return;
  // The INSERT is a single statement, so that the sums are complete or absent.
  await rederiveCallSums(connection);
}

/** A commit that is visible to the same running reads as `seq`; the result is the same for as many values of `seq` as possible. */
function seenWith(seq: string, bound: number): string {
  return `greatest(${seq}, ${bound})`;
}

async function insertParts(connection: Connection, calls: readonly string[]): Promise<void> {
  await connection.run(
    `INSERT INTO ${TABLE} SELECT part_seq, tenant, ${CALL_PARTS} FROM (${sumsOfCalls(calls, ['part_seq', 'tenant', 'agent_no'])}) ORDER BY part_seq, tenant, hour, agent_no, model`,
  );
}
