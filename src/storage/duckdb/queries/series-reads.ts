import type { FoundSeries, Series, SeriesRequest } from '../../run-series.js';
import type { Agents } from '../figures/agents.js';
import type { Asker, Served } from '../reads/asker.js';
import { readSeries } from './run-series.js';

/** The contract `Series` in the store thread. */
export class SeriesReads implements Served<Series> {
  readonly #agents: Agents;

  constructor(agents: Agents) {
    this.#agents = agents;
  }

  async read({ tenant, long }: Asker, request: SeriesRequest): Promise<FoundSeries> {
    return await long((connection, capture) =>
      readSeries(connection, capture, this.#agents, tenant, request),
    );
  }
}
