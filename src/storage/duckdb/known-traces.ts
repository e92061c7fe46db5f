import type { Clock } from '../../component/telemetry.js';
import type { Micros } from '../../signal/time.js';
import { formatUuid } from '../../worker/uuid-words.js';
import type { Agents } from './agents.js';
import type { Connection } from './connection.js';
import type { IdIndex } from './ids/id-index.js';
import { RememberedTraces } from './remembered-traces.js';
import type { Capture } from './segment.js';
import type { ClosedRuns } from './spans/closed-runs.js';
import { Reloads } from './spans/reloads.js';
import type { RunSize } from './spans/run-size.js';
import { loadTraces, type TraceToLoad } from './stored-traces.js';
import type { TraceState } from './trace-state.js';
import type { TouchedTrace } from './triage.js';

/** What is stored of the traces that a commit touches: remembered, or loaded from the tables. */
export class KnownTraces {
  readonly #connection: Connection;
  readonly #traces: IdIndex;
  readonly #agents: Agents;
  readonly #remembered: RememberedTraces;
  readonly #reloads: Reloads;
  readonly #size: RunSize;
  readonly #closed: ClosedRuns;
  #forgottenBefore: Micros = -Infinity;

  constructor(parts: {
    readonly connection: Connection;
    /** Every stored trace id, with the commit of its newest header. */
    readonly traces: IdIndex;
    readonly agents: Agents;
    readonly size: RunSize;
    readonly closed: ClosedRuns;
    readonly clock: Clock;
  }) {
    this.#connection = parts.connection;
    this.#traces = parts.traces;
    this.#agents = parts.agents;
    this.#size = parts.size;
    this.#remembered = new RememberedTraces(parts.size.remembered);
    this.#reloads = new Reloads(parts.size.reloads, parts.clock);
    this.#closed = parts.closed;
  }

  /** The states of those touched traces that are stored, by key. */
  async load(touched: ReadonlyMap<string, TouchedTrace>, capture: Capture): Promise<Map<string, TraceState>> {
    const states = new Map<string, TraceState>();
    const wanted = new Map<number, (TraceToLoad & { readonly key: string })[]>();
    for (const [key, { tenant, words, offset }] of touched) {
      const remembered = this.#remembered.get(key);
      if (remembered !== undefined && remembered.header.started_at >= this.#forgottenBefore) {
        states.set(key, remembered);
        continue;
      }
      const seq = this.#traces.find(tenant, words, offset);
      if (seq === 0) continue;
      const list = wanted.get(tenant) ?? [];
      list.push({ key, id: formatUuid(words, offset), seqs: [seq] });
      wanted.set(tenant, list);
    }
    for (const [tenant, traces] of wanted) {
      const loaded = await loadTraces(this.#connection, capture, this.#agents, tenant, traces, this.#size);
      for (const { key, id } of traces) {
        const state = loaded.get(id);
        if (state === undefined) continue;
        states.set(key, state);
        const isTooOften = state.closed === null && this.#reloads.loaded(key, tenant, state.spans.size);
        // What brings no spans is not what loads runs again and again.
        state.isToClose = isTooOften && touched.get(key)?.parts.some((part) => 'batch' in part) === true;
      }
    }
    for (const [key, state] of states) {
      const trace = touched.get(key);
      if (trace !== undefined) await this.#closed.meet(trace, state, capture);
    }
    return states;
  }

  /** Keeps what is stored now of a trace, for the next change of it. */
  remember(key: string, state: TraceState): void {
    state.release();
    this.#reloads.isHere(key, state.spans.size);
    if (state.header.started_at >= this.#forgottenBefore) this.#remembered.put(key, state);
  }

  /** What was worked out of these traces holds no more. */
  forget(keys: Iterable<string>): void {
    for (const key of keys) this.#remembered.forget(key);
  }

  /** Traces that started before this time are being removed from the tables: what is remembered of them holds no more. */
  forgetBefore(time: Micros): void {
    this.#forgottenBefore = time;
  }
}
