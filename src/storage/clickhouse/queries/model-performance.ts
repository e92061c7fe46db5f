import { MOST_NAMED, type ModelFilter, type ModelPerformance } from '../../contracts/runs.js';
import { HAS_FAILED } from '../../schema/tables.js';
import { performanceOfRows } from '../../shared/summaries-of-rows.js';
import { quoted } from '../client/literals.js';
import { callsOf, COUNT_COLUMNS, COUNTED_COST, counts, COUNTS_USAGE } from './call-sums.js';
import type { ListParts } from './listed-runs.js';

const COLUMNS = [...COUNT_COLUMNS, 'status', 'duration_ms', 'call_details'];
const FIRST_CHUNK = `JSONExtract(ifNull(call_details, ''), 'time_to_first_chunk_ms', 'Nullable(Float64)')`;
const IS_TIMED = 'output_tokens IS NOT NULL AND ifNull(duration_ms, 0) > 0';
const IS_UNPRICED = `${counts('cost')} AND cost_usd IS NULL`;
const HAS_TOKENS = 'coalesce(input_tokens, output_tokens, total_tokens) IS NOT NULL';

/** Outcomes and durations of some models' calls, from all spans within the time. */
export async function readPerformance(
  { reads, names }: ListParts,
  tenant: number,
  filter: ModelFilter,
  models: readonly (string | null)[],
  abort: AbortSignal | undefined,
): Promise<ModelPerformance[]> {
  const spans = await callsOf({ names }, tenant, filter, COLUMNS);
  if (spans === null || models.length === 0) return [];
  const wanted = models.filter((model) => model !== null).map(quoted);
  const isWanted = [
    ...(wanted.length > 0 ? [`ifNull(model IN (${wanted.join(', ')}), false)`] : []),
    ...(models.includes(null) ? ['model IS NULL'] : []),
  ].join(' OR ');
  const calls = `(SELECT * FROM ${spans} WHERE ${COUNTS_USAGE} AND (${isWanted}))`;
  const [rows, byAgent] = await Promise.all([
    reads.rows(
      `SELECT model, countIf(${HAS_FAILED}) AS failed, quantileExactInclusiveOrNull(0.5)(duration_ms) AS p50_ms, quantileExactInclusiveOrNull(0.95)(duration_ms) AS p95_ms,
         quantileExactInclusiveOrNull(0.5)(${FIRST_CHUNK}) AS first_chunk_ms,
         if(countIf(${IS_TIMED}) = 0, NULL, 1000 * toFloat64(sumIf(toInt128(output_tokens), ${IS_TIMED})) / sumIf(duration_ms, ${IS_TIMED})) AS tokens_per_second,
         countIf(${IS_UNPRICED} AND NOT ${HAS_TOKENS}) AS without_tokens, countIf(${IS_UNPRICED} AND ${HAS_TOKENS}) AS without_price
       FROM ${calls} WHERE ${counts('call')} GROUP BY model`,
      abort,
    ),
    reads.rows(
      `SELECT model, agent_no, countIf(is_call) AS calls, if(countIf(is_priced) > 0 OR sum(nanos) > 0, toString(sum(nanos)), NULL) AS cost
       FROM (SELECT trace_id, model, ${COUNTED_COST} AS nanos, ${counts('call')} AS is_call, ${counts('cost')} AND cost_usd IS NOT NULL AS is_priced FROM ${calls}) AS c
       INNER JOIN (SELECT trace_id, agent_no FROM runs FINAL WHERE tenant = ${tenant}) AS r ON r.trace_id = c.trace_id
       GROUP BY model, agent_no ORDER BY if(countIf(is_priced) > 0 OR sum(nanos) > 0, sum(nanos), NULL) DESC NULLS LAST, calls DESC, agent_no LIMIT ${MOST_NAMED} BY model`,
      abort,
    ),
  ]);
  const agents = await names.of(tenant, new Set(byAgent.map((row) => Number(row.agent_no))));
  return performanceOfRows(rows, byAgent, (agentNo) => agents.byNumber(agentNo));
}
