import { COUNTS, WHOLE } from '../../../runs/rules/told-calls.js';
import { SPAN_TYPES } from '../../../signal/span.js';
import { MODEL_SUMS } from '../../schema/sum-tables.js';
import { SPANS } from '../../schema/tables.js';
import { CommitRanges, conditionsOn } from './commit-ranges.js';
import type { Connection } from '../files/connection.js';
import { isVersionOf, newestOf, rowsOf } from './relation.js';
import type { Segment } from './segment.js';

/**
 * The calls of models in the cold file, added up by the hour (`MODEL_SUMS`). For every bound that a read may have, the parts up
 * to it add up to what the spans up to it give: whoever adds or removes spans notes that in the same transaction, and what is
 * taken away is noted under a commit that is visible to exactly those reads that saw the span.
 */

/** Spans that are calls. */
export const IS_CALL = `type = ${SPAN_TYPES.indexOf('llm')}`;

const HOUR_US = 3_600_000_000;
/** What counts of a span. */
export const COUNTED = 'model, started_at, input_tokens, output_tokens, total_tokens, cost_usd, counted';
/** Whether so much of a call counts here: another span may tell of it, too (`runs/rules/told-calls.ts`). In SQL. */
export const counts = (what: keyof typeof COUNTS, row = ''): string =>
  `(coalesce(${row}counted, ${WHOLE}) & ${COUNTS[what]}) > 0`;

/** The columns of `MODEL_SUMS` after the tenant. */
export const MODEL_PARTS = MODEL_SUMS.wire.map(({ name }) => name).join(', ');

/** The hour in which a call started, in SQL. */
export function hourOfCall(): string {
  return `(epoch_us(date_trunc('hour', started_at)) // ${HOUR_US})::INTEGER`;
}

/**
 * What calls add to sums.
 *
 * @param rows from {@link callsOf} and {@link replacedCalls}
 * @param by columns to group by, beside hour and model
 */
export function partsOfCalls(rows: readonly string[], by: readonly string[] = []): string {
  const came = 'CASE WHEN sign > 0 AND counted IS DISTINCT FROM 0 THEN started_at END';
  const gone = 'CASE WHEN is_gone THEN started_at END';
  const sum = (column: string, what: keyof typeof COUNTS): string =>
    `coalesce(sum(CASE WHEN ${counts(what)} THEN sign * ${column} END), 0)::HUGEINT AS`;
  const calls = `sum(CASE WHEN ${counts('call')} THEN sign ELSE 0 END)::BIGINT`;
  const priced = `sum(CASE WHEN cost_usd IS NOT NULL AND ${counts('cost')} THEN sign ELSE 0 END)::BIGINT`;
  return `SELECT ${[...by, ''].join(', ')}${hourOfCall()} AS hour, model,
    ${calls} AS calls, ${priced} AS priced_calls, ${sum('cost_usd', 'cost')} nanos,
    ${sum('input_tokens', 'call')} input_tokens, ${sum('output_tokens', 'call')} output_tokens, ${sum('total_tokens', 'call')} total_tokens,
    min(${came}) AS oldest, max(${came}) AS newest, min(${gone}) AS gone_oldest, max(${gone}) AS gone_newest
    FROM (${rows.join(' UNION ALL ')}) GROUP BY ALL`;
}

/**
 * The calls among some spans.
 *
 * @param also further columns
 * @param removed whether they are to be taken away
 */
export function callsOf(spans: string, also = '', removed = false): string {
  return `SELECT ${removed ? '-1' : '1'}::BIGINT AS sign, ${removed ? 'TRUE' : 'FALSE'} AS is_gone, ${COUNTED}${also} FROM ${spans} WHERE ${IS_CALL}`;
}

/**
 * Calls in the cold file with newer versions among some other spans, to be taken away. Where the newer version has the same model
 * and time it stands for the same call, which stays.
 *
 * @param replaced a condition on those in the cold file, from {@link replacedCommits}
 * @param newer a relation that leaves out what is replaced within it
 * @param spans those in the cold file, perhaps with further columns
 */
export function replacedCalls(
  replaced: string,
  newer: string,
  also = '',
  spans = `cold.main.${SPANS.name}`,
): string {
  const isGone =
    'n.model IS DISTINCT FROM o.model OR n.started_at <> o.started_at OR n.type <> o.type OR n.counted IS NOT DISTINCT FROM 0';
  const columns = COUNTED.split(', ').map((name) => `o.${name}`);
  return `SELECT -1::BIGINT AS sign, ${isGone} AS is_gone, ${columns.join(', ')}${also}
    FROM (SELECT * FROM ${spans} WHERE ${IS_CALL} AND ${replaced}) o
    JOIN (SELECT * FROM ${newer} WHERE replaces) n ON ${isVersionOf(SPANS, 'n', 'o')} AND n.seq > o.seq`;
}

/**
 * Conditions on the commits of all versions that some spans replace. Each span names the commit of the version before it, and
 * segments are moved one after the other: so the first version after what lies in the cold file says where that lies. Not usable
 * while any segment is quarantined: the version between may lie there.
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

/** How many commits are looked through together where some of them are wanted. */
const NEIGHBOURS = 256;

/** What a move goes by, beside its segment. */
export interface AroundMove {
  /** The last commit that the oldest read expects in the cold file. */
  readonly bound: number;
  /** Whether segments are quarantined. */
  readonly isAnyQuarantined: boolean;
}

/** Notes what the move of a segment is about to do. To be called within its transaction, before the rows are moved. */
export async function noteMovedCalls(
  connection: Connection,
  segment: Segment,
  { bound, isAnyQuarantined }: AroundMove,
): Promise<void> {
  const { lastSeq } = segment;
  const hot = rowsOf(segment, SPANS);
  const replaces = (segment.replacing.get(SPANS.name) ?? 0) > 0;
  const moved = replaces ? newestOf(SPANS, hot, `(SELECT * FROM ${hot} WHERE replaces)`) : hot;
  const calls = [callsOf(moved, `, tenant, ${lastSeq} AS part_seq`)];
  if (replaces) {
    for (const commits of await replacedCommits(connection, hot, isAnyQuarantined))
      calls.push(replacedCalls(commits, moved, `, o.tenant, ${seenWith('o.seq', bound)} AS part_seq`));
  }
  await insertParts(connection, calls);
}

/** Notes that spans are about to be removed from the cold file. To be called within the transaction. @param spans a relation */
export async function noteRemovedCalls(connection: Connection, spans: string, bound: number): Promise<void> {
  await insertParts(connection, [callsOf(spans, `, tenant, ${seenWith('seq', bound)} AS part_seq`, true)]);
}

/** Derives all sums anew from the spans. To be called within the transaction that has changed the spans in an unknown way. */
export async function deriveModelSumsAnew(connection: Connection): Promise<void> {
  await connection.run(`DELETE FROM cold.main.${MODEL_SUMS.name}`);
  await insertParts(connection, [callsOf(`cold.main.${SPANS.name}`, ', tenant, 0 AS part_seq')]);
}

/** A commit that exactly those running reads see which see the given one; the same for as many given ones as possible. */
export function seenWith(seq: string, bound: number): string {
  return `greatest(${seq}, ${bound})`;
}

async function insertParts(connection: Connection, calls: readonly string[]): Promise<void> {
  await connection.run(
    `INSERT INTO cold.main.${MODEL_SUMS.name} SELECT part_seq, tenant, ${MODEL_PARTS} FROM (${partsOfCalls(calls, ['part_seq', 'tenant'])}) ORDER BY part_seq, tenant, hour, model`,
  );
}
