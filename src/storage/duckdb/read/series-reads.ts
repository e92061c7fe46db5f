import type { FoundSeries } from '../../contracts/runs.js';
import type { Agents } from '../stats/agents.js';
import type { RunCells } from '../stats/run-cells.js';
import type { ReadContext } from '../segments/read-context.js';
import { readSeries, type StoredSeriesRequest } from './run-series.js';

/** The reads of the contract `Series`. */
export class SeriesReads {
  readonly #agents: Agents;
  readonly #cells: RunCells;

  constructor({ agents, cells }: { readonly agents: Agents; readonly cells: RunCells }) {
    this.#agents = agents;
    this.#cells = cells;
  }

  async read({ tenant, long }: ReadContext, request: StoredSeriesRequest): Promise<FoundSeries> {
    return await long((connection, capture) =>
      this.#cells.read(tenant, capture.lastSeq, (cells) =>
        readSeries({ connection, capture, agents: this.#agents, cells, tenant }, request),
      ),
    );
  }
}
