import { SPAN_TYPES } from '../../../signal/span.js';
import { SPANS, TRACES } from '../../tables.js';
import type { ModelFilter, ModelUsage } from '../../telemetry-store.js';
import type { Agents } from '../agents.js';
import type { Connection, Row } from '../database.js';
import { newest } from '../relation.js';
import type { Capture } from '../segment.js';
import { sumOf, text } from './run-summary.js';

const LLM = SPAN_TYPES.indexOf('llm');
/** Sums are exact, and only then turned into the nearest double: that of whole numbers is a HUGEINT, whatever there is. */
const FIGURES = `count(*) AS calls, count(cost_usd) AS priced_calls,
  sum(cost_usd) AS nanos,
  coalesce(sum(input_tokens), 0)::DOUBLE AS input_tokens,
  coalesce(sum(output_tokens), 0)::DOUBLE AS output_tokens,
  coalesce(sum(total_tokens), 0)::DOUBLE AS total_tokens,
  epoch_us(min(started_at)) AS first_call_at, epoch_us(max(started_at)) AS last_call_at`;

/**
 * The models of a tenant's `llm` spans with what they used, the dearest first, then the one called most. It goes through
 * the narrow columns of all spans in the time asked for: nothing about models is kept beside them.
 *
 * @returns the page and the number of all models
 */
export async function listModels(
  connection: Connection,
  capture: Capture,
  agents: Agents,
  tenant: number,
  filter: ModelFilter,
  page: { readonly offset: number; readonly limit: number },
): Promise<{ items: ModelUsage[]; count: number }> {
  const where = [`tenant = ${tenant}`, `type = ${LLM}`];
  if (filter.start_time !== undefined) where.push(`started_at >= make_timestamp(${filter.start_time})`);
  if (filter.end_time !== undefined) where.push(`started_at <= make_timestamp(${filter.end_time})`);
  let ofAgent = '';
  if (filter.agent_id !== undefined) {
    const agent = agents.byId(tenant, filter.agent_id);
    if (agent === undefined) return { items: [], count: 0 };
    const runs = newest(capture, TRACES, `tenant = ${tenant}`);
    ofAgent = ` WHERE trace_id IN (SELECT trace_id FROM ${runs} WHERE agent_no = ${agent.agent_no})`;
  }
  const calls = `${newest(capture, SPANS, where.join(' AND '))}${ofAgent}`;
  const models = `WITH models AS MATERIALIZED (SELECT model, ${FIGURES} FROM ${calls} GROUP BY model)`;
  const total = '(SELECT count(*) FROM models) AS count';
  const rows = await connection.rows(
    `${models} SELECT ${total}, *, nanos::VARCHAR AS total_cost FROM models ORDER BY nanos DESC NULLS LAST, calls DESC, model LIMIT ${page.limit} OFFSET ${page.offset}`,
  );
  // Beyond the last page there is no row to tell how many there are.
  const [counted] =
    rows.length > 0 || page.offset === 0 ? rows : await connection.rows(`${models} SELECT ${total}`);
  return { items: rows.map(modelUsage), count: Number(counted?.count ?? 0) };
}

function modelUsage(row: Row): ModelUsage {
  return {
    model: text(row.model),
    calls: Number(row.calls),
    priced_calls: Number(row.priced_calls),
    input_tokens: Number(row.input_tokens),
    output_tokens: Number(row.output_tokens),
    total_tokens: Number(row.total_tokens),
    total_cost: sumOf(row.total_cost),
    first_call_at: Number(row.first_call_at),
    last_call_at: Number(row.last_call_at),
  };
}
