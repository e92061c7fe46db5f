import type { Price } from '../../../signal/price.js';
import {
  type ModelFilter,
  type ModelPerformance,
  type Models,
  type ModelUsage,
  type RepricedCalls,
  type RepricedFilter,
  type ToolUsage,
  MOST_NAMED,
} from '../../contracts/runs.js';
import type { Page, PageRange } from '../../contracts/paging.js';
import type { Agents } from '../stats/agents.js';
import type { ReadContext, Served } from '../segments/read-context.js';
import { listModels } from './models.js';
import { repriceCalls } from './repriced-calls.js';
import { HAS_FAILED, TRACES, SPANS } from '../../schema/tables.js';
import { performanceOfRows, toolsOfRows } from '../../shared/summaries-of-rows.js';
import type { Connection } from '../files/connection.js';
import { literal } from '../files/database.js';
import { newest } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';
import { counts, COUNTS_USAGE, withTokens } from '../segments/call-tokens.js';
import { someCalls } from './summed-calls.js';
import { SPAN_TYPES } from '../../../signal/span.js';
import { dimensionsOf } from './run-conditions.js';

/** The contract `Models` in the store thread. */
export class ModelReads implements Served<Models> {
  readonly #agents: Agents;

  constructor(agents: Agents) {
    this.#agents = agents;
  }

  async list({ tenant, long }: ReadContext, filter: ModelFilter, page: PageRange): Promise<Page<ModelUsage>> {
    return await long((connection, capture) =>
      listModels(connection, capture, this.#agents, tenant, filter, page),
    );
  }

  async performance(
    { tenant, long }: ReadContext,
    filter: ModelFilter,
    models: readonly (string | null)[],
  ): Promise<readonly ModelPerformance[]> {
    return await long((connection, capture) =>
      readPerformance({ connection, capture, agents: this.#agents, tenant }, filter, models),
    );
  }

  async tools({ tenant, long }: ReadContext, filter: ModelFilter, page: PageRange): Promise<Page<ToolUsage>> {
    return await long((connection, capture) =>
      listTools(connection, capture, this.#agents, tenant, filter, page),
    );
  }

  async reprice({ tenant, long }: ReadContext, filter: RepricedFilter, price: Price): Promise<RepricedCalls> {
    return await long((connection, capture) =>
      repriceCalls(connection, capture, this.#agents, tenant, filter, price),
    );
  }
}

/** `serializeCall` writes it last. */
const FIRST_CHUNK = `CASE WHEN call_details LIKE '%"time_to_first_chunk_ms":%' THEN TRY_CAST(json_extract_string(call_details, '$.time_to_first_chunk_ms') AS DOUBLE) END`;
const IS_TIMED = 'output_tokens IS NOT NULL AND duration_ms > 0';
const IS_UNPRICED = `${counts('cost')} AND cost_usd IS NULL`;
const HAS_TOKENS = 'coalesce(input_tokens, output_tokens, total_tokens) IS NOT NULL';

/** Outcomes and durations of some models' calls, from all spans within the time. */
async function readPerformance(
  {
    connection,
    capture,
    agents,
    tenant,
  }: {
    readonly connection: Connection;
    readonly capture: Capture;
    readonly agents: Agents;
    readonly tenant: number;
  },
  filter: ModelFilter,
  models: readonly (string | null)[],
): Promise<ModelPerformance[]> {
  const spans = someCalls(capture, agents, tenant, filter);
  if (spans === null || models.length === 0) return [];
  const names = models.filter((model) => model !== null).map(literal);
  const isWanted = [
    ...(names.length > 0 ? [`model IN (${names.join(', ')})`] : []),
    ...(models.includes(null) ? ['model IS NULL'] : []),
  ].join(' OR ');
  const wanted = `(SELECT * FROM ${spans} WHERE ${COUNTS_USAGE} AND (${isWanted}))`;
  const rows = await connection.rows(
    `SELECT * EXCLUDE (percentiles), percentiles[1] AS p50_ms, percentiles[2] AS p95_ms FROM (
       SELECT model, sum((${HAS_FAILED})::TINYINT)::BIGINT AS failed, quantile_cont(duration_ms, [0.5, 0.95]) AS percentiles,
         quantile_cont(${FIRST_CHUNK}, 0.5) AS first_chunk_ms,
         1000 * sum(CASE WHEN ${IS_TIMED} THEN output_tokens END)::DOUBLE / sum(CASE WHEN ${IS_TIMED} THEN duration_ms END) AS tokens_per_second,
         sum((${IS_UNPRICED} AND NOT ${HAS_TOKENS})::TINYINT)::BIGINT AS without_tokens, sum((${IS_UNPRICED} AND ${HAS_TOKENS})::TINYINT)::BIGINT AS without_price
       FROM ${wanted} WHERE ${counts('call')} GROUP BY model)`,
  );
  const runs = newest(capture, TRACES, `tenant = ${tenant}`);
  const byAgent = await connection.rows(
    `SELECT * EXCLUDE (paid), paid::VARCHAR AS cost FROM (
       SELECT model, agent_no, sum(is_call::TINYINT)::BIGINT AS calls, CASE WHEN sum(is_priced::TINYINT) > 0 OR sum(paid) > 0 THEN sum(paid) END AS paid
       FROM (SELECT trace_id, model, paid, ${counts('call')} AS is_call, ${counts('cost')} AND cost_usd IS NOT NULL AS is_priced FROM ${withTokens(wanted)})
       JOIN (SELECT trace_id, agent_no FROM ${runs}) USING (trace_id) GROUP BY model, agent_no)
     QUALIFY row_number() OVER (PARTITION BY model ORDER BY paid DESC NULLS LAST, calls DESC, agent_no) <= ${MOST_NAMED} ORDER BY paid DESC NULLS LAST, calls DESC, agent_no`,
  );
  return performanceOfRows(rows, byAgent, (agentNo) => agents.byNumber(agentNo));
}

/** One page of tools with their calls, by number of calls, and the number of all tools. */
async function listTools(
  connection: Connection,
  capture: Capture,
  agents: Agents,
  tenant: number,
  filter: ModelFilter,
  { offset, limit }: PageRange,
): Promise<Page<ToolUsage>> {
  const isOf = dimensionsOf(filter);
  if (filter.agent_id !== undefined) {
    const agent = agents.byId(tenant, filter.agent_id);
    if (agent === undefined) return { items: [], count: 0 };
    isOf.push(`agent_no = ${agent.agent_no}`);
  }
  const runs = newest(capture, TRACES, [`tenant = ${tenant}`, ...isOf].join(' AND '));
  const calls = newest(capture, SPANS, callsWithin(tenant, filter));
  const wanted =
    isOf.length === 0 ? calls : `(SELECT * FROM ${calls} WHERE trace_id IN (SELECT trace_id FROM ${runs}))`;
  const rows = await connection.rows(
    `SELECT * EXCLUDE (percentiles), percentiles[1] AS p50_ms, percentiles[2] AS p95_ms FROM (
       SELECT name, count(*) AS calls, count(*) FILTER (${HAS_FAILED}) AS failed, quantile_cont(duration_ms, [0.5, 0.95]) AS percentiles,
         epoch_us(max(started_at)) AS last_at FROM ${wanted} GROUP BY name)
     ORDER BY calls DESC, name LIMIT ${limit} OFFSET ${offset}`,
  );
  const [counted] = await connection.rows(`SELECT count(DISTINCT name) AS count FROM ${wanted}`);
  const count = Number(counted?.count);
  if (rows.length === 0) return { items: [], count };
  const names = rows.map(({ name }) => literal(String(name))).join(', ');
  const byAgent = await connection.rows(
    `SELECT * FROM (
       SELECT name, agent_no, count(*) AS calls, count(*) FILTER (${HAS_FAILED}) AS failed
       FROM (SELECT trace_id, name, status FROM ${wanted} WHERE name IN (${names})) JOIN (SELECT trace_id, agent_no FROM ${runs}) USING (trace_id)
       GROUP BY name, agent_no)
     QUALIFY row_number() OVER (PARTITION BY name ORDER BY calls DESC, agent_no) <= ${MOST_NAMED} ORDER BY calls DESC, agent_no`,
  );
  return { items: toolsOfRows(rows, byAgent, (agentNo) => agents.byNumber(agentNo)), count };
}

function callsWithin(tenant: number, { start_time: from, end_time: to }: ModelFilter): string {
  return [
    `tenant = ${tenant}`,
    `type = ${SPAN_TYPES.indexOf('tool')}`,
    ...(from === undefined ? [] : [`started_at >= make_timestamp(${from})`]),
    ...(to === undefined ? [] : [`started_at <= make_timestamp(${to})`]),
  ].join(' AND ');
}
