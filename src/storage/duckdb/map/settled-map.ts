import { hourOf } from '../../../signal/trace-map.js';
import { mapSpansAt, startedAt } from '../incoming-rows.js';
import { FewSpans } from '../spans/few-spans.js';
import { ManySpans } from '../spans/many-spans.js';
import type { MapAgent, MapTally } from '../spans/map-tally.js';
import type { TraceState } from '../trace-state.js';
import type { TouchedTrace } from '../triage.js';
import type { IncomingBatch, Rows } from '../write-group.js';
import { MapChanges } from './map-changes.js';
import type { Services } from './services.js';

/** How a trace with many spans counts: under whom, and when. */
interface Counting {
  readonly tally: MapTally;
  readonly agent: MapAgent;
  readonly hour: number;
}

/** What a group's traces change in the service map. */
export class SettledMap {
  readonly #changes: MapChanges;
  readonly #services: Services;
  /** Of traces with many spans: how they counted before the commit. */
  readonly #before = new Map<TraceState, Counting>();

  constructor(services: Services) {
    this.#services = services;
    this.#changes = new MapChanges(services);
  }

  /** Takes away what a stored trace adds, before it is changed; {@link put} adds what it adds then. */
  take({ tenant, parts }: TouchedTrace, state: TraceState | undefined): void {
    if (!state?.isMapped || !(state.isToClose || parts.some(changesMap))) return;
    if (state.spans instanceof ManySpans)
      this.#before.set(state, this.#countingOf(tenant, state, state.spans));
    else this.#addFew(tenant, state, -1);
  }

  put({ tenant, parts }: TouchedTrace, state: TraceState): void {
    if (!state.isMapped) {
      // It has more spans than are followed, and does not count any more.
      const before = this.#before.get(state);
      if (before !== undefined) this.#takeAway(tenant, before);
      return;
    }
    if (!parts.some(changesMap)) return;
    if (state.spans instanceof ManySpans) this.#putMany(tenant, state, state.spans);
    else this.#addFew(tenant, state, 1);
  }

  /**
   * Adds traces of a batch that are new as a whole.
   *
   * @param traces their positions @param otherNames of their agents, where those are not called as the batch says
   */
  addWhole(batch: IncomingBatch, traces: readonly number[], otherNames: ReadonlyMap<number, string>): void {
    if (batch.map === null) return;
    if (traces.length === batch.traces.rows && otherNames.size === 0) {
      this.#changes.addBatch(batch);
      return;
    }
    for (const trace of traces) {
      this.#changes.addNew({
        tenant: batch.tenant,
        agent: otherNames.get(trace) ?? batch.agent(trace),
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
    this.#before.clear();
  }

  #addFew(tenant: number, { agent, header, spans }: TraceState, sign: 1 | -1): void {
    if (!(spans instanceof FewSpans)) return;
    const trace = { tenant, agent, startedAt: header.started_at, spans: spans.all() };
    this.#changes.add(tenant, this.#changes.sumsOf(trace), sign);
  }

  /** Only what is different, where it counts in the same hour and for the same agent. */
  #putMany(tenant: number, state: TraceState, spans: ManySpans): void {
    const before = this.#before.get(state);
    const now = this.#countingOf(tenant, state, spans);
    if (before !== undefined && isSame(before, now)) {
      this.#changes.add(tenant, { hour: now.hour, sums: now.tally.changes(now.agent) }, 1);
    } else {
      if (before !== undefined) this.#takeAway(tenant, before);
      this.#changes.add(tenant, { hour: now.hour, sums: now.tally.total(now.agent) }, 1);
    }
    now.tally.settled();
  }

  #takeAway(tenant: number, { tally, agent, hour }: Counting): void {
    this.#changes.add(tenant, { hour, sums: tally.before(agent) }, -1);
  }

  #countingOf(tenant: number, { agent, header }: TraceState, { map: tally }: ManySpans): Counting {
    return {
      tally,
      agent: { node: this.#services.number(tenant, agent), hasSpan: tally.hasAgentSpan },
      hour: hourOf(header.started_at),
    };
  }
}

function isSame(a: Counting, b: Counting): boolean {
  return (
    a.tally === b.tally &&
    a.hour === b.hour &&
    a.agent.node === b.agent.node &&
    a.agent.hasSpan === b.agent.hasSpan
  );
}

/** Whether a change of a trace may change what it adds to the map. */
function changesMap(part: TouchedTrace['parts'][number]): boolean {
  return 'batch' in part || 'remap' in part;
}
