import { mapSpansAt, startedAt } from '../incoming-rows.js';
import type { TraceState } from '../trace-state.js';
import type { TouchedTrace } from '../triage.js';
import type { IncomingBatch, Rows } from '../write-group.js';
import { MapChanges, type TraceSums } from './map-changes.js';
import type { Services } from './services.js';

/** Of a trace with more spans what it adds to the map is kept, so that not every change of it counts all of them again. */
const MANY_SPANS = 100;

/** What a group's traces change in the service map. */
export class SettledMap {
  readonly #changes: MapChanges;

  constructor(services: Services) {
    this.#changes = new MapChanges(services);
  }

  /** Takes away what a stored trace adds, before it is changed; {@link put} adds what it adds then. */
  take({ tenant, parts }: TouchedTrace, state: TraceState | undefined): void {
    if (!state?.isMapped || !parts.some(changesMap)) return;
    this.#changes.add(tenant, state.mapSums ?? this.#sumsOf(tenant, state), -1);
  }

  put({ tenant, parts }: TouchedTrace, state: TraceState): void {
    if (!state.isMapped || !parts.some(changesMap)) return;
    const sums = this.#sumsOf(tenant, state);
    this.#changes.add(tenant, sums, 1);
    state.mapSums = state.spans.size > MANY_SPANS ? sums : null;
  }

  /** Adds traces of a batch that are new as a whole. @param traces their positions */
  addWhole(batch: IncomingBatch, traces: readonly number[]): void {
    if (batch.map === null) return;
    if (traces.length === batch.traces.rows) {
      this.#changes.addBatch(batch);
      return;
    }
    for (const trace of traces) {
      this.#changes.addNew({
        tenant: batch.tenant,
        agent: batch.agent(trace),
        startedAt: startedAt(batch, trace),
        spans: mapSpansAt(batch, trace),
      });
    }
  }

  rows(seq: number): Rows[] {
    return this.#changes.rows(seq);
  }

  clear(): void {
    this.#changes.clear();
  }

  #sumsOf(tenant: number, { agent, header, spans }: TraceState): TraceSums {
    return this.#changes.sumsOf({ tenant, agent, startedAt: header.started_at, spans: [...spans.values()] });
  }
}

/** Whether a change of a trace may change what it adds to the map. */
function changesMap(part: TouchedTrace['parts'][number]): boolean {
  return 'batch' in part || 'remap' in part;
}
