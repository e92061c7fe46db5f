import { COST_PARTS } from '../../../signal/call-details.js';
import { CALL_SUMS, MODEL_SUMS } from '../../schema/sum-tables.js';
import { SPANS } from '../../schema/tables.js';
import type { Connection } from '../files/connection.js';
import { newestOf, rowsOf } from './relation.js';
import type { Segment } from './segment.js';
import { COLD_RUNS, withAgent, type MovedRuns } from './agents-of-runs.js';
import { TOKEN_COLUMNS, withTokens } from './call-tokens.js';
import {
  callsOf,
  COUNTED,
  hourOfCall,
  IS_CALL,
  replacedCalls,
  replacedCommits,
  seenWith,
  type AroundMove,
} from './model-sums.js';

/**
 * The calls of models in the cold file once more (`CALL_SUMS`), by the agents of their runs and with the tokens that prices need. The rule
 * is that of `model-sums.ts`: for every bound that a read may have, the parts up to it give what the spans and headers up to it give. A run
 * whose agent changes takes its calls along.
 */

const TABLE = `cold.main.${CALL_SUMS.name}`;
const COLD_SPANS = `cold.main.${SPANS.name}`;
/** The columns after the tenant. */
export const CALL_PARTS = CALL_SUMS.wire.map(({ name }) => name).join(', ');
/** What {@link sumsOfCalls} needs of a call beside what `callsOf` gives. */
export const ALSO = `, ${TOKEN_COLUMNS}`;

/**
 * What calls add to the sums, or take away from them.
 *
 * @param rows from `callsOf`, with {@link ALSO}, and from {@link callsOfReplaced} and {@link callsOfChanged}
 * @param by columns to group by, beside those of the sums
 */
export function sumsOfCalls(rows: readonly string[], by: readonly string[] = []): string {
  const counted = `(SELECT * FROM (${rows.join(' UNION ALL ')}) WHERE counted IS DISTINCT FROM 0)`;
  const came = 'CASE WHEN sign > 0 THEN started_at END';
  const gone = 'CASE WHEN is_gone THEN started_at END';
  const sum = (column: string): string => `coalesce(sum(sign * ${column}), 0)::HUGEINT AS ${column}`;
  const parts = COST_PARTS.map((part) => `of_${part}`);
  return `SELECT ${[...by, ''].join(', ')}${hourOfCall()} AS hour, model, told, sum(sign)::BIGINT AS calls,
    coalesce(sum(sign * cost_usd), 0)::HUGEINT AS nanos, ${['input_tokens', 'output_tokens', 'total_tokens', ...parts].map(sum).join(', ')},
    max(input + output + read + written)::BIGINT AS most,
    min(${came}) AS oldest, max(${came}) AS newest, min(${gone}) AS gone_oldest, max(${gone}) AS gone_newest
    FROM ${withTokens(counted)} GROUP BY ALL`;
}

/**
 * Calls in the cold file of which there are newer versions, to be taken away.
 *
 * @param replaced and
 * @param newer as for `replacedCalls`; where `also` asks for its `agent_no`, from {@link withAgent}
 */
export function callsOfReplaced(replaced: string, newer: string, also = ''): string {
  const columns = TOKEN_COLUMNS.split(', ').map((name) => `, o.${name}`);
  // For its agent every one is gone: the newer version may be of another.
  return `SELECT * REPLACE (TRUE AS is_gone) FROM (${replacedCalls(replaced, newer, `${columns.join('')}${also}`)})`;
}

/**
 * The calls of such runs, each to be taken away from the agent of before and added to the other one (`agent_no`). Those of which there are
 * newer versions are left out: they are taken away by {@link callsOfReplaced}.
 *
 * @param where which spans of the cold file
 * @param newer versions of spans; null where there are none
 */
export function callsOfChanged(changed: string, where: string, newer: string | null, also = ''): string {
  const spans = `(SELECT * FROM ${COLD_SPANS} WHERE ${IS_CALL} AND ${where})`;
  const left = newer === null ? spans : newestOf(SPANS, spans, `(SELECT * FROM ${newer} WHERE replaces)`);
  const columns = [...COUNTED.split(', '), ...TOKEN_COLUMNS.split(', ')].map((name) => `o.${name}`);
  return `SELECT s.sign, s.sign < 0 AS is_gone, ${columns.join(', ')}${also}, CASE WHEN s.sign < 0 THEN r.old_no ELSE r.new_no END AS agent_no
    FROM ${left} o JOIN ${changed} r ON r.tenant = o.tenant AND r.trace_id = o.trace_id CROSS JOIN (VALUES (-1::BIGINT), (1::BIGINT)) s(sign)`;
}

/** Notes what the move of a segment is about to do. To be called within its transaction, before the rows are moved. */
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
  const calls = [callsOf(withAgent(moved, headers), `${ALSO}, tenant, ${lastSeq} AS part_seq, agent_no`)];
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

/** Notes that spans are about to be removed from the cold file, before their headers are. To be called within the transaction. */
export async function noteRemovedCallSums(
  connection: Connection,
  spans: string,
  bound: number,
): Promise<void> {
  const also = `${ALSO}, tenant, ${seenWith('seq', bound)} AS part_seq, agent_no`;
  await insertParts(connection, [callsOf(withAgent(spans, COLD_RUNS), also, true)]);
}

/** Derives all sums anew from spans and headers. To be called within the transaction that has changed them in an unknown way. */
export async function deriveCallSumsAnew(connection: Connection): Promise<void> {
  await connection.run(`DELETE FROM ${TABLE}`);
  const spans = withAgent(COLD_SPANS, COLD_RUNS);
  await insertParts(connection, [callsOf(spans, `${ALSO}, tenant, 0 AS part_seq, agent_no`)]);
}

/**
 * Derives them where a store of before has none. To be called when the cold file is opened: its first start with this table takes some seconds
 * for ten million spans.
 */
export async function completeCallSums(connection: Connection): Promise<void> {
  const [row] = await connection.rows(
    `SELECT EXISTS (SELECT 1 FROM cold.main.${MODEL_SUMS.name}) AND NOT EXISTS (SELECT 1 FROM ${TABLE}) AS is_missing`,
  );
  if (row?.is_missing !== true) return;
  // One statement, so that it is there as a whole or not at all.
  await deriveCallSumsAnew(connection);
}

async function insertParts(connection: Connection, calls: readonly string[]): Promise<void> {
  await connection.run(
    `INSERT INTO ${TABLE} SELECT part_seq, tenant, ${CALL_PARTS} FROM (${sumsOfCalls(calls, ['part_seq', 'tenant', 'agent_no'])}) ORDER BY part_seq, tenant, hour, agent_no, model`,
  );
}
