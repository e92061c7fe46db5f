import { COUNTS, WHOLE } from '../../../runs/rules/told-calls.js';
import { sumToNumber } from '../../../signal/money.js';
import type { Price } from '../../../signal/price.js';
import { SPAN_TYPES } from '../../../signal/span.js';
import type { ModelFilter, Models, ModelUsage, RepricedCalls, RepricedFilter } from '../../models.js';
import type { Page, PageRange } from '../../paging.js';
import type { Row } from '../client/connection.js';
import { isKnown } from '../names/agent-names.js';
import { effectiveSpans } from './effective-spans-sql.js';
import { textOf } from '../../summaries-of-rows.js';
import type { ListParts } from './listed-runs.js';
import { repricedCalls, repricing } from './repriced-calls.js';

const IS_CALL = `type = ${SPAN_TYPES.indexOf('llm')}`;

/** Whether so much of a call counts here: another span may tell of it, too (`runs/rules/told-calls.ts`). In SQL. */
const counts = (what: keyof typeof COUNTS): string =>
  `bitAnd(ifNull(counted, ${WHOLE}), ${COUNTS[what]}) > 0`;

export const CALL_COLUMNS = ['model', 'input_tokens', 'output_tokens', 'total_tokens', 'cost_usd', 'counted'];
const CALLS = `countIf(${counts('call')})`;
const PRICED = `countIf(cost_usd IS NOT NULL AND ${counts('cost')})`;
const COST = `toString(sumIf(toInt128(cost_usd), cost_usd IS NOT NULL AND ${counts('cost')}))`;
const tokens = (column: string): string =>
  `toFloat64(ifNull(sumIf(toInt128(${column}), ${counts('call')}), 0))`;

/** What calls of a model add up to, in SQL: `calls`, `priced`, `cost` as a text, `tokens`. */
export const CALL_SUMS = `${CALLS} AS calls, ${PRICED} AS priced, ${COST} AS cost, ${tokens('total_tokens')} AS tokens`;

/** The contract `Models` over the spans. */
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
    const calls = await callsOf(this.#parts, await this.#tenantOf(userId), filter, CALL_COLUMNS);
    if (calls === null) return { items: [], count: 0 };
    const rows = await this.#parts.reads.rows(
      `WITH models AS (
         SELECT model, ${CALL_SUMS}, ${tokens('input_tokens')} AS input, ${tokens('output_tokens')} AS output,
           minIf(started_at, counted IS NULL OR counted <> 0) AS first_call_at, maxIf(started_at, counted IS NULL OR counted <> 0) AS last_call_at
         FROM ${calls} GROUP BY model HAVING calls > 0 OR priced > 0)
       SELECT *, (SELECT count() FROM models) AS all_models FROM models
       ORDER BY if(priced > 0, toInt128(cost), NULL) DESC NULLS LAST, calls DESC, model NULLS LAST LIMIT ${limit} OFFSET ${offset}`,
      abort,
    );
    if (rows.length > 0 || offset === 0)
      return { items: rows.map(modelUsage), count: Number(rows[0]?.all_models ?? 0) };
    const { count } = await this.list(userId, filter, { offset: 0, limit: 1 }, abort);
    return { items: [], count };
  }

  async reprice(
    userId: string,
    { model, ...filter }: RepricedFilter,
    price: Price,
    abort?: AbortSignal,
  ): Promise<RepricedCalls> {
    const columns = [...CALL_COLUMNS, 'status', 'call_details'];
    const calls = await callsOf(this.#parts, await this.#tenantOf(userId), filter, columns);
    if (calls === null) return repricedCalls({});
    const [row] = await this.#parts.reads.rows(repricing(calls, model, price), abort);
    return repricedCalls(row ?? {});
  }
}

/** The model calls of a user, or of one agent of it, as a relation; null where the user has no such agent. */
export async function callsOf(
  { names }: Pick<ListParts, 'names'>,
  tenant: number,
  { agent_id: agentId, start_time: from, end_time: to }: ModelFilter,
  columns: readonly string[],
): Promise<string | null> {
  const calls = effectiveSpans(tenant, { from, to }, columns, IS_CALL);
  if (agentId === undefined) return calls;
  const agent = (await names.of(tenant)).byId(agentId);
  if (!isKnown(agent)) return null;
  const runs = `SELECT trace_id FROM runs FINAL WHERE tenant = ${tenant} AND kind = 0 AND agent_no = ${agent.number}`;
  return `(SELECT * FROM ${calls} WHERE trace_id IN (${runs}))`;
}

function modelUsage(row: Row): ModelUsage {
  return {
    model: textOf(row.model),
    calls: Number(row.calls),
    priced_calls: Number(row.priced),
    input_tokens: Number(row.input),
    output_tokens: Number(row.output),
    total_tokens: Number(row.tokens),
    total_cost: Number(row.priced) === 0 ? null : sumToNumber(BigInt(String(row.cost))),
    first_call_at: Number(row.first_call_at),
    last_call_at: Number(row.last_call_at),
  };
}
