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
import type { Agents } from '../stats/agents.js';
import type { ReadContext, Served } from '../segments/read-context.js';
import { listModels } from './models.js';
import { readPerformance } from './model-performance.js';
import { repriceCalls } from './repriced-calls.js';
import { listTools } from './tools.js';

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
