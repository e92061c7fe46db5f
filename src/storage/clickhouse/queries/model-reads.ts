import type { Price } from '../../../signal/price.js';
import type {
  ModelFilter,
  ModelPerformance,
  Models,
  ModelUsage,
  RepricedCalls,
  RepricedFilter,
  ToolUsage,
} from '../../contracts/runs.js';
import type { Page, PageRange } from '../../contracts/paging.js';
import type { Row } from '../client/connection.js';
import { textOf } from '../../shared/summaries-of-rows.js';
import { isByLifetime, isOfSums, mayBeTooLarge } from '../../shared/priced-tokens.js';
import { callsOf, callSums, CALL_SUMS, costOf, IS_USED } from './call-sums.js';
import { TOKEN_COLUMNS, tokenSums } from './call-tokens.js';
import type { ListParts } from './listed-runs.js';
import { readPerformance } from './model-performance.js';
import { repricedCalls, repricing, repricingOfSums } from './repriced-calls.js';
import { listTools } from './tool-calls.js';

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
