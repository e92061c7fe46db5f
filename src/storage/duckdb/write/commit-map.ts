import { mapContribution } from '../../../runs/run-state.js';
import type { TraceState } from './trace-state.js';
import { isOfBatch, type TouchedTrace, type TracePart } from './classify.js';
import type { IncomingBatch } from '../../incoming/incoming-batch.js';
import type { Rows } from './rows.js';
import type { Services } from './services.js';
import { countCalled, hourOf } from '../../../signal/trace-map.js';
import { calledSpansAt, startedAt } from '../../incoming/incoming-rows.js';
import type { HourSums } from '../../../signal/hour-sums.js';
import { sumRows, TenantHours } from './tenant-hours.js';

/** The changes of the current commit to the sums of the service map. */
class MapChanges {
  readonly #services: Services;
  readonly #hours = new TenantHours();

  constructor(services: Services) {
    this.#services = services;
  }

  /** Adds or subtracts the contribution of a complete trace. */
  add(tenant: number, hour: number, sums: HourSums, sign: 1 | -1): void {
    this.#hours.sums(tenant, hour).add(sums, sign);
  }

  /**
   * Adds the contribution of a completely new trace of a batch.
   *
   * @param agent the name of its agent
   */
  addWhole(batch: IncomingBatch, trace: number, agent: string): void {
    const { tenant } = batch;
    const sums = this.#hours.sums(tenant, hourOf(startedAt(batch, trace)));
    countCalled(this.#services.number(tenant, agent), calledSpansAt(batch, trace), sums);
  }

  rows(seq: number): Rows[] {
    return sumRows(seq, this.#hours.parts());
  }

  clear(): void {
    this.#hours.clear();
  }
}

/** The changes of a group of traces to the service map. */
export class CommitMap {
  readonly #changes: MapChanges;
  readonly #services: Services;

  constructor(services: Services) {
    this.#services = services;
    this.#changes = new MapChanges(services);
  }

  /** Subtracts the contribution of a stored trace before it is changed; {@link put} adds the new one. */
  take({ tenant, parts }: TouchedTrace, state: TraceState | undefined): void {
    if (state !== undefined && (state.isToTruncate || parts.some(changesMap))) this.#add(tenant, state, -1);
  }

  put({ tenant, parts }: TouchedTrace, state: TraceState): void {
    if (parts.some(changesMap)) this.#add(tenant, state, 1);
  }

  /**
   * Adds completely new traces of a batch.
   *
   * @param agents the names of their agents, by position
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
  }

  #add(tenant: number, state: TraceState, sign: 1 | -1): void {
    const found = mapContribution(state, (agent) => this.#services.number(tenant, agent));
    if (found !== null) this.#changes.add(tenant, found.hour, found.sums, sign);
  }
}

/** Whether a change may affect the contribution of its trace to the map. */
function changesMap(part: TracePart): boolean {
  return isOfBatch(part) || part.kind === 'remap';
}
