import { MICROS_PER_HOUR } from '../../../signal/time-units.js';
import type { CallFilter, ModelFilter, ModelUsage } from '../../contracts/runs.js';
import type { Agents } from '../stats/agents.js';
import type { Connection } from '../files/connection.js';
import type { Row, Value } from '../files/plain-rows.js';
import { joinNearest, union, type CommitRange } from '../segments/commit-ranges.js';
import type { Capture } from '../segments/segment.js';
import { CALL_FLAGS } from '../../shared/priced-tokens.js';
import { callsOf, sumsOfCalls } from '../segments/call-sums.js';
import { sumOf, text } from '../write/run-summary.js';
import { callParts, someCalls } from './summed-calls.js';

/** Maximum number of ranges; each is a separate scan. */
const MOST_RANGES = 6;

interface Page {
  readonly offset: number;
  readonly limit: number;
}

/**
 * Sums are exact; only the result is rounded to a double. The first and the last call are uncertain if a removed call was as
 * early or as late.
 */
const STATS_COLUMNS = `sum(calls)::BIGINT AS calls, sum(priced_calls)::BIGINT AS priced_calls,
  CASE WHEN sum(priced_calls) > 0 OR sum(nanos) > 0 THEN sum(nanos) END AS nanos,
  sum(input_tokens)::DOUBLE AS input_tokens, sum(output_tokens)::DOUBLE AS output_tokens,
  sum(total_tokens)::DOUBLE AS total_tokens,
  epoch_us(min(oldest)) AS first_call_at, epoch_us(max(newest)) AS last_call_at,
  min(hour) AS first_hour, max(hour) AS last_hour,
  arg_min(coalesce(gone_oldest <= oldest, FALSE), hour) AS is_first_unsure,
  arg_max(coalesce(gone_newest >= newest, FALSE), hour) AS is_last_unsure`;

const calls = (bit: number, name: string): string =>
  `CASE WHEN (told & ${bit}) > 0 THEN calls ELSE 0 END AS ${name}`;
/** The columns of `CALL_SUMS`, with the number of calls by counted measures. */
export const COUNTED_PARTS = `${calls(CALL_FLAGS.call, 'calls')}, ${calls(CALL_FLAGS.priced, 'priced_calls')}, nanos, input_tokens, output_tokens, total_tokens,
  oldest, newest, gone_oldest, gone_newest`;
/** SQL condition for sums of calls that are not empty. */
export const IS_USED = 'sum(calls) > 0 OR sum(priced_calls) > 0 OR sum(total_tokens) > 0 OR sum(nanos) > 0';

const HOURLY = `SELECT model, hour, sum(calls) AS calls, sum(priced_calls) AS priced_calls, sum(nanos) AS nanos,
  sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens, sum(total_tokens) AS total_tokens,
  min(oldest) AS oldest, max(newest) AS newest, min(gone_oldest) AS gone_oldest, max(gone_newest) AS gone_newest`;

/**
 * The models of a user's spans with their usage, sorted by cost, then by number of calls. In the cold file, hours entirely
 * within the requested time are read from hourly sums, which also exist by agent.
 *
 * @returns the page and the number of all models
 */
export async function listModels(
  connection: Connection,
  capture: Capture,
  agents: Agents,
  tenant: number,
  filter: ModelFilter,
  page: Page,
): Promise<{ items: ModelUsage[]; count: number }> {
  const parts = await hourlyParts(connection, capture, agents, tenant, filter);
  if (parts === null) return { items: [], count: 0 };
  const models = `WITH hours AS (${HOURLY} FROM (${parts}) GROUP BY model, hour HAVING ${IS_USED}), models AS MATERIALIZED (SELECT model, ${STATS_COLUMNS} FROM hours GROUP BY model)`;
  const total = '(SELECT count(*) FROM models) AS count';
  const rows = await connection.rows(
    `${models} SELECT ${total}, *, nanos::VARCHAR AS total_cost FROM models ORDER BY nanos DESC NULLS LAST, calls DESC, model LIMIT ${page.limit} OFFSET ${page.offset}`,
  );
  // A page after the last one has no row to carry the count.
  const [counted] =
    rows.length > 0 || page.offset === 0 ? rows : await connection.rows(`${models} SELECT ${total}`);
  const ends = await sureEnds(connection, rows, ({ first, last }) =>
    someCalls(capture, agents, tenant, betweenHours(filter, first, last)),
  );
  return { items: rows.map((row) => modelUsage(row, ends)), count: Number(counted?.count ?? 0) };
}

/** Calls by hour and model, in parts, in SQL; null if the user has no such agent. */
export async function hourlyParts(
  connection: Connection,
  capture: Capture,
  agents: Agents,
  tenant: number,
  filter: CallFilter,
): Promise<string | null> {
  const parts = await callParts({ connection, capture, tenant }, agents, filter);
  return parts === null ? null : `SELECT hour, model, ${COUNTED_PARTS} FROM (${parts})`;
}

interface Ends {
  readonly first: number;
  readonly last: number;
}

/**
 * Reads the first and the last call of the hours whose sums are uncertain, by model and hour.
 *
 * @param callsIn returns the calls of some hours, both ends included
 */
async function sureEnds(
  connection: Connection,
  rows: readonly Row[],
  callsIn: (hours: CommitRange) => string | null,
): Promise<ReadonlyMap<string, Ends>> {
  const hours = rows.flatMap((row) => [
    ...(row.is_first_unsure === true ? [Number(row.first_hour)] : []),
    ...(row.is_last_unsure === true ? [Number(row.last_hour)] : []),
  ]);
  const ranges = joinNearest(union(hours.map((hour) => ({ first: hour, last: hour }))), MOST_RANGES);
  const calls = ranges.flatMap((range) => callsIn(range) ?? []).map((spans) => callsOf(spans));
  if (calls.length === 0) return new Map();
  const found = await connection.rows(
    `SELECT model, hour, epoch_us(min(oldest)) AS first, epoch_us(max(newest)) AS last FROM (${sumsOfCalls(calls)}) GROUP BY model, hour`,
  );
  return new Map(
    found.map((row) => [endKey(row, row.hour), { first: Number(row.first), last: Number(row.last) }]),
  );
}

/** Narrows a filter to some hours, both ends included. */
function betweenHours(filter: ModelFilter, first: number, last: number): ModelFilter {
  return {
    ...filter,
    start_time: Math.max(filter.start_time ?? -Infinity, first * MICROS_PER_HOUR),
    end_time: Math.min(filter.end_time ?? Infinity, (last + 1) * MICROS_PER_HOUR - 1),
  };
}

function endKey({ model = null }: Row, hour: Value | undefined): string {
  return `${Number(hour)} ${JSON.stringify(model)}`;
}

function modelUsage(row: Row, ends: ReadonlyMap<string, Ends>): ModelUsage {
  const first = row.is_first_unsure === true ? ends.get(endKey(row, row.first_hour))?.first : undefined;
  const last = row.is_last_unsure === true ? ends.get(endKey(row, row.last_hour))?.last : undefined;
  return {
    model: text(row.model),
    calls: Number(row.calls),
    priced_calls: Number(row.priced_calls),
    input_tokens: Number(row.input_tokens),
    output_tokens: Number(row.output_tokens),
    total_tokens: Number(row.total_tokens),
    total_cost: sumOf(row.total_cost),
    first_call_at: first ?? Number(row.first_call_at),
    last_call_at: last ?? Number(row.last_call_at),
  };
}
