import { MapContributions, type MapSums } from '../../../runs/map-contributions.js';
import type { TraceState } from '../runs/trace-state.js';
import type { TouchedTrace } from '../runs/triage.js';
import type { IncomingBatch } from '../../incoming/incoming-batch.js';
import type { Rows } from '../changes/rows.js';
import { MapChanges } from './map-changes.js';
import type { Services } from './services.js';

/** What the traces of a group change in the service map. */
export class SettledMap {
  readonly #changes: MapChanges;
  readonly #services: Services;
  readonly #runs = new MapContributions();

  constructor(services: Services) {
    this.#services = services;
    this.#changes = new MapChanges(services);
  }

  /** Takes away what a stored trace contributes, before it is changed; {@link put} adds what it contributes then. */
  take({ tenant, parts }: TouchedTrace, state: TraceState | undefined): void {
    if (state !== undefined && (state.isToClose || parts.some(changesMap)))
      this.#runs.take(state, this.#sumsOf(tenant));
  }

  put({ tenant, parts }: TouchedTrace, state: TraceState): void {
    if (!state.isMapped || parts.some(changesMap)) this.#runs.put(state, this.#sumsOf(tenant));
  }

  /**
   * Adds traces of a batch that are new as a whole.
   *
   * @param agents the names of their agents, by their positions
   */
  addWhole(batch: IncomingBatch, agents: ReadonlyMap<number, string>): void {
    if (batch.map === null) return;
    for (const [trace, agent] of agents) this.#changes.addWhole(batch, trace, agent);
  }

  rows(seq: number): Rows[] {
    return this.#changes.rows(seq);
  }

  clear(): void {
    this.#changes.clear();
    this.#runs.clear();
  }

  #sumsOf(tenant: number): MapSums {
    return {
      nodeOf: (agent) => this.#services.number(tenant, agent),
      add: (hour, sums, sign) => {
        this.#changes.add(tenant, hour, sums, sign);
      },
    };
  }
}

/** Whether a change of a trace may change what it contributes to the map. */
function changesMap(part: TouchedTrace['parts'][number]): boolean {
  return 'batch' in part || 'remap' in part;
}
