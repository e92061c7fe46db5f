import type { FoundSeries } from '../../run-series.js';
import type { Agents } from '../figures/agents.js';
import type { Asker } from '../reads/asker.js';
import { readSeries, type StoredSeriesRequest } from './run-series.js';

/** What the contract `Series` reads. */
export class SeriesReads {
  readonly #agents: Agents;

  constructor(agents: Agents) {
    this.#agents = agents;
  }

  async read({ tenant, long }: Asker, request: StoredSeriesRequest): Promise<FoundSeries> {
    return await long((connection, capture) =>
      readSeries(connection, capture, this.#agents, tenant, request),
    );
  }
}
