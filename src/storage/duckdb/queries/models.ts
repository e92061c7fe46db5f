import { SPANS, TRACES } from '../../tables.js';
import type { ModelFilter, ModelUsage, RepricedFilter } from '../../models.js';
import type { Agents } from '../figures/agents.js';
import { joinNearest, union } from '../rows/commit-ranges.js';
import type { Connection, Row, Value } from '../files/connection.js';
import { literal } from '../files/database.js';
import {
  callsOf,
  IS_CALL,
  MODEL_PARTS,
  partsOfCalls,
  replacedCalls,
  replacedCommits,
  startOf,
  wholeHours,
} from '../sums/model-sums.js';
import { hasReplacing, hotPartsOf, newest, newestHot } from '../rows/relation.js';
import type { Capture } from '../rows/segment.js';
import { sumOf, text } from './run-summary.js';

/** How many ranges are read; each is a scan of its own of every file. */
const MOST_RANGES = 6;

/** Which calls, of which models. */
type CallFilter = ModelFilter & Partial<RepricedFilter>;

interface Page {
  readonly offset: number;
  readonly limit: number;
}

/**
 * Sums are exact, and only the result becomes the nearest double. An end is unsure where it may belong to a call that has gone.
 */
const FIGURES = `sum(calls)::BIGINT AS calls, sum(priced_calls)::BIGINT AS priced_calls,
  CASE WHEN sum(priced_calls) > 0 THEN sum(nanos) END AS nanos,
  sum(input_tokens)::DOUBLE AS input_tokens, sum(output_tokens)::DOUBLE AS output_tokens,
  sum(total_tokens)::DOUBLE AS total_tokens,
  epoch_us(min(oldest)) AS first_call_at, epoch_us(max(newest)) AS last_call_at,
  min(hour) AS first_hour, max(hour) AS last_hour,
  arg_min(coalesce(gone_oldest <= oldest, FALSE), hour) AS is_first_unsure,
  arg_max(coalesce(gone_newest >= newest, FALSE), hour) AS is_last_unsure`;

const HOURLY = `SELECT model, hour, sum(calls) AS calls, sum(priced_calls) AS priced_calls, sum(nanos) AS nanos,
  sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens, sum(total_tokens) AS total_tokens,
  min(oldest) AS oldest, max(newest) AS newest, min(gone_oldest) AS gone_oldest, max(gone_newest) AS gone_newest`;

/**
 * The models of a user's `llm` spans with what they used, the most expensive first, then the one called most. For the cold file
 * the hours that lie entirely within the time asked for are read from their sums. Models of one agent are looked for among all
 * spans: nothing about agents and models is kept beside them.
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
  const models = `WITH hours AS (${HOURLY} FROM (${parts}) GROUP BY model, hour HAVING sum(calls) > 0 OR sum(priced_calls) > 0), models AS MATERIALIZED (SELECT model, ${FIGURES} FROM hours GROUP BY model)`;
  const total = '(SELECT count(*) FROM models) AS count';
  const rows = await connection.rows(
    `${models} SELECT ${total}, *, nanos::VARCHAR AS total_cost FROM models ORDER BY nanos DESC NULLS LAST, calls DESC, model LIMIT ${page.limit} OFFSET ${page.offset}`,
  );
  // Behind the last page there is no row that could tell how many there are.
  const [counted] =
    rows.length > 0 || page.offset === 0 ? rows : await connection.rows(`${models} SELECT ${total}`);
  const ends = await sureEnds(connection, capture, callsWithin(tenant, filter), rows);
  return { items: rows.map((row) => modelUsage(row, ends)), count: Number(counted?.count ?? 0) };
}

/** The parts of the calls' sums by hour and model, in SQL; null where the user has no such agent. */
export async function hourlyParts(
  connection: Connection,
  capture: Capture,
  agents: Agents,
  tenant: number,
  filter: ModelFilter,
): Promise<string | null> {
  if (filter.agent_id === undefined) return await partsOfAll(connection, capture, tenant, filter);
  const calls = someCalls(capture, agents, tenant, filter);
  return calls === null ? null : partsOfCalls([callsOf(calls)]);
}

/** The spans of the calls within the time as a relation; null where the user has no such agent. */
export function someCalls(
  capture: Capture,
  agents: Agents,
  tenant: number,
  filter: CallFilter,
): string | null {
  const calls = newest(capture, SPANS, callsWithin(tenant, filter));
  if (filter.agent_id === undefined) return calls;
  const agent = agents.byId(tenant, filter.agent_id);
  if (agent === undefined) return null;
  const runs = newest(capture, TRACES, `tenant = ${tenant}`);
  return `(SELECT * FROM ${calls} WHERE trace_id IN (SELECT trace_id FROM ${runs} WHERE agent_no = ${agent.agent_no}))`;
}

/** All calls within the time, from sums where possible. One statement, so that sums and rows are of the same moment. */
async function partsOfAll(
  connection: Connection,
  capture: Capture,
  tenant: number,
  filter: ModelFilter,
): Promise<string> {
  const within = callsWithin(tenant, filter);
  const { first, before } = wholeHours(filter.start_time, filter.end_time);
  const parts: string[] = [];
  const calls: string[] = [];
  const cold = (where: string): string =>
    callsOf(
      `(SELECT * FROM cold.main.${SPANS.name} WHERE seq <= ${capture.bound} AND ${within} AND ${where})`,
    );
  if (first >= before) calls.push(cold('TRUE'));
  else {
    const hours = [`seq <= ${capture.bound}`, `tenant = ${tenant}`];
    if (first > -Infinity) {
      hours.push(`hour >= ${first}`);
      calls.push(cold(`started_at < make_timestamp(${startOf(first)})`));
    }
    if (before < Infinity) {
      hours.push(`hour < ${before}`);
      calls.push(cold(`started_at >= make_timestamp(${startOf(before)})`));
    }
    parts.push(`SELECT ${MODEL_PARTS} FROM cold.main.model_sums WHERE ${hours.join(' AND ')}`);
  }
  const hot = newestHot(capture, SPANS, within);
  if (hot !== null) calls.push(callsOf(hot));
  const newer = newestHot(capture, SPANS, `tenant = ${tenant}`);
  if (newer !== null && hasReplacing(capture, SPANS)) {
    const replacing = hotPartsOf(capture, SPANS, `tenant = ${tenant} AND replaces`);
    const { isAnyAside } = capture;
    for (const commits of await replacedCommits(connection, `(${replacing.join(' UNION ALL ')})`, isAnyAside))
      calls.push(replacedCalls(`seq <= ${capture.bound} AND ${within} AND ${commits}`, newer));
  }
  if (calls.length > 0) parts.push(partsOfCalls(calls));
  return parts.join(' UNION ALL ');
}

/** Conditions on the spans that count. */
function callsWithin(tenant: number, { start_time, end_time, model }: CallFilter): string {
  const where = [`tenant = ${tenant}`, IS_CALL];
  if (model !== undefined) where.push(model === null ? 'model IS NULL' : `model = ${literal(model)}`);
  if (start_time !== undefined) where.push(`started_at >= make_timestamp(${start_time})`);
  if (end_time !== undefined) where.push(`started_at <= make_timestamp(${end_time})`);
  return where.join(' AND ');
}

interface Ends {
  readonly first: number;
  readonly last: number;
}

/** The first and the last call in those hours where the sums cannot tell, by model and hour. */
async function sureEnds(
  connection: Connection,
  capture: Capture,
  within: string,
  rows: readonly Row[],
): Promise<ReadonlyMap<string, Ends>> {
  const hours = rows.flatMap((row) => [
    ...(row.is_first_unsure === true ? [Number(row.first_hour)] : []),
    ...(row.is_last_unsure === true ? [Number(row.last_hour)] : []),
  ]);
  if (hours.length === 0) return new Map();
  const ranges = joinNearest(union(hours.map((hour) => ({ first: hour, last: hour }))), MOST_RANGES).map(
    ({ first, last }) =>
      `${within} AND started_at >= make_timestamp(${startOf(first)}) AND started_at < make_timestamp(${startOf(last + 1)})`,
  );
  const calls = callsOf(newest(capture, SPANS, ranges));
  const found = await connection.rows(
    `SELECT model, hour, epoch_us(oldest) AS first, epoch_us(newest) AS last FROM (${partsOfCalls([calls])})`,
  );
  return new Map(
    found.map((row) => [endKey(row, row.hour), { first: Number(row.first), last: Number(row.last) }]),
  );
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
