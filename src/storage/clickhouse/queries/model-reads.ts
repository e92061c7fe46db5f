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
import type { Row } from '../client/connection.js';
import { textOf, performanceOfRows } from '../../shared/summaries-of-rows.js';
import { isByLifetime, isOfSums, mayBeTooLarge } from '../../shared/priced-tokens.js';
import {
  callsOf,
  callSums,
  CALL_SUMS,
  costOf,
  IS_USED,
  COUNT_COLUMNS,
  COUNTED_COST,
  counts,
  COUNTS_USAGE,
} from './call-sums.js';
import { TOKEN_COLUMNS, tokenSums } from './call-tokens.js';
import type { ListParts } from './listed-runs.js';
import { repricedCalls, repricing, repricingOfSums } from './repriced-calls.js';
import { listTools } from './tool-calls.js';
import { HAS_FAILED } from '../../schema/tables.js';
import { quoted } from '../client/literals.js';

/** The contract `Models`. */
export class ModelReads implements Models {
  readonly #parts: ListParts;
  readonly #tenantOf: (userId: string) => Promise<number>;

  constructor(parts: ListParts, tenantOf: (userId: string) => Promise<number>) {
    this.#parts = parts;
    this.#tenantOf = tenantOf;
  }

  async list(
    userId: string,
    filter: ModelFilter,
    { offset, limit }: PageRange,
    abort?: AbortSignal,
  ): Promise<Page<ModelUsage>> {
    const calls = await callSums(this.#parts, await this.#tenantOf(userId), filter, undefined, abort);
    if (calls === null) return { items: [], count: 0 };
    const rows = await this.#parts.reads.rows(
      `WITH models AS (
         SELECT model, ${CALL_SUMS}, toFloat64(sum(one.input)) AS input, toFloat64(sum(one.output)) AS output, min(one.first) AS first_call_at, max(one.last) AS last_call_at
         FROM ${calls} AS one GROUP BY model HAVING ${IS_USED})
       SELECT *, count() OVER () AS all_models FROM models
       ORDER BY if(priced > 0 OR toInt128(cost) > 0, toInt128(cost), NULL) DESC NULLS LAST, calls DESC, model NULLS LAST LIMIT ${limit} OFFSET ${offset}`,
      abort,
    );
    if (rows.length > 0 || offset === 0)
      return { items: rows.map(modelUsage), count: Number(rows[0]?.all_models ?? 0) };
    const { count } = await this.list(userId, filter, { offset: 0, limit: 1 }, abort);
    return { items: [], count };
  }

  async performance(
    userId: string,
    filter: ModelFilter,
    models: readonly (string | null)[],
    abort?: AbortSignal,
  ): Promise<readonly ModelPerformance[]> {
    return await readPerformance(this.#parts, await this.#tenantOf(userId), filter, models, abort);
  }

  async tools(
    userId: string,
    filter: ModelFilter,
    page: PageRange,
    abort?: AbortSignal,
  ): Promise<Page<ToolUsage>> {
    return await listTools(this.#parts, await this.#tenantOf(userId), filter, page, abort);
  }

  async reprice(
    userId: string,
    filter: RepricedFilter,
    price: Price,
    abort?: AbortSignal,
  ): Promise<RepricedCalls> {
    const tenant = await this.#tenantOf(userId);
    const { reads } = this.#parts;
    const sums = isOfSums(price) ? await tokenSums(this.#parts, tenant, filter, abort) : null;
    if (sums !== null) {
      const [row = {}] = await reads.rows(repricingOfSums(sums, price), abort);
      const repriced = repricedCalls(row);
      const isExact = repriced.tokens.cached_write === 0 || !isByLifetime(price);
      if (isExact && !mayBeTooLarge(Number(row.most_tokens), price)) return repriced;
    }
    const calls = await callsOf(this.#parts, tenant, filter, TOKEN_COLUMNS);
    if (calls === null) return repricedCalls({});
    const [row] = await reads.rows(repricing(calls, filter.model, price), abort);
    return repricedCalls(row ?? {});
  }
}

function modelUsage(row: Row): ModelUsage {
  return {
    model: textOf(row.model),
    calls: Number(row.calls),
    priced_calls: Number(row.priced),
    input_tokens: Number(row.input),
    output_tokens: Number(row.output),
    total_tokens: Number(row.tokens),
    total_cost: costOf(row.priced, row.cost),
    first_call_at: Number(row.first_call_at),
    last_call_at: Number(row.last_call_at),
  };
}

const COLUMNS = [...COUNT_COLUMNS, 'status', 'duration_ms', 'call_details'];
const FIRST_CHUNK = `JSONExtract(ifNull(call_details, ''), 'time_to_first_chunk_ms', 'Nullable(Float64)')`;
const IS_TIMED = 'output_tokens IS NOT NULL AND ifNull(duration_ms, 0) > 0';
const IS_UNPRICED = `${counts('cost')} AND cost_usd IS NULL`;
const HAS_TOKENS = 'coalesce(input_tokens, output_tokens, total_tokens) IS NOT NULL';

/** Outcomes and durations of some models' calls, from all spans within the time. */
async function readPerformance(
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
