import { MOST_NAMED, type ModelFilter, type ModelPerformance } from '../../contracts/runs.js';
import { HAS_FAILED, TRACES } from '../../schema/tables.js';
import { performanceOfRows } from '../../shared/summaries-of-rows.js';
import type { Agents } from '../stats/agents.js';
import type { Connection } from '../files/connection.js';
import { literal } from '../files/database.js';
import { newest } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';
import { counts, COUNTS_USAGE, withTokens } from '../segments/call-tokens.js';
import { someCalls } from './summed-calls.js';

/** `serializeCall` writes it last. */
const FIRST_CHUNK = `CASE WHEN call_details LIKE '%"time_to_first_chunk_ms":%' THEN TRY_CAST(json_extract_string(call_details, '$.time_to_first_chunk_ms') AS DOUBLE) END`;
const IS_TIMED = 'output_tokens IS NOT NULL AND duration_ms > 0';
const IS_UNPRICED = `${counts('cost')} AND cost_usd IS NULL`;
const HAS_TOKENS = 'coalesce(input_tokens, output_tokens, total_tokens) IS NOT NULL';

/** Outcomes and durations of some models' calls, from all spans within the time. */
export async function readPerformance(
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
