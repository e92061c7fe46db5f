import type { Micros } from '../../signal/time.js';
import { formatUuid } from '../../worker/uuid-words.js';
import type { Agents } from './agents.js';
import type { Connection } from './connection.js';
import type { IdIndex } from './ids/id-index.js';
import { RememberedTraces } from './remembered-traces.js';
import type { Capture } from './segment.js';
import type { ClosedRuns } from './spans/closed-runs.js';
import type { Reloads, RunToLoad } from './spans/reloads.js';
import type { RunSize } from './spans/run-size.js';
import { loadHeaders, loadSpansOf, type StoredTrace, type TraceToLoad } from './stored-traces.js';
import type { TraceState } from './trace-state.js';
import type { TouchedTrace } from './triage.js';
import type { TraceChange } from './write-group.js';

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
    readonly reloads: Reloads;
  }) {
    this.#connection = parts.connection;
    this.#traces = parts.traces;
    this.#agents = parts.agents;
    this.#size = parts.size;
    this.#remembered = new RememberedTraces(parts.size.remembered);
    this.#reloads = parts.reloads;
    this.#closed = parts.closed;
  }

  /**
   * The states of those touched traces that are stored, by key.
   *
   * @param changes of the group, in their order
   * @throws TooMuchToLoad
   */
  async load(
    touched: ReadonlyMap<string, TouchedTrace>,
    changes: readonly TraceChange[],
    capture: Capture,
  ): Promise<Map<string, TraceState>> {
    const states = new Map<string, TraceState>();
    const wanted = new Map<number, (TraceToLoad & { readonly key: string })[]>();
    for (const [key, { tenant, words, offset, parts }] of touched) {
      const remembered = this.#remembered.get(key);
      if (remembered !== undefined && remembered.header.started_at >= this.#forgottenBefore) {
        states.set(key, remembered);
        remembered.isToClose = parts.some((part) => 'close' in part);
        continue;
      }
      const seq = this.#traces.find(tenant, words, offset);
      if (seq === 0) continue;
      const list = wanted.get(tenant) ?? [];
      list.push({ key, id: formatUuid(words, offset), seqs: [seq] });
      wanted.set(tenant, list);
    }
    if (wanted.size > 0) await this.#loadForgotten(wanted, states, { touched, changes, capture });
    for (const [key, state] of states) {
      const trace = touched.get(key);
      if (trace !== undefined) await this.#closed.meet(trace, state, capture);
    }
    return states;
  }

  async #loadForgotten(
    wanted: ReadonlyMap<number, readonly (TraceToLoad & { readonly key: string })[]>,
    states: Map<string, TraceState>,
    group: {
      readonly touched: ReadonlyMap<string, TouchedTrace>;
      readonly changes: readonly TraceChange[];
      readonly capture: Capture;
    },
  ): Promise<void> {
    const found = new Map<number, StoredTrace[]>();
    const open: RunToLoad[] = [];
    for (const [tenant, traces] of wanted) {
      const stored = await loadHeaders(
        this.#connection,
        group.capture,
        this.#agents,
        tenant,
        traces,
        this.#size,
      );
      found.set(
        tenant,
        [...stored.values()].filter(({ state }) => state.closed === null),
      );
      for (const { key, id } of traces) {
        const run = stored.get(id);
        const trace = group.touched.get(key);
        if (run === undefined || trace === undefined) continue;
        states.set(key, run.state);
        if (run.state.closed === null) open.push({ key, trace, spans: run.spans });
      }
    }
    const toClose = this.#reloads.take(group.changes, open);
    for (const [tenant, runs] of found)
      await loadSpansOf(this.#connection, group.capture, tenant, runs, this.#size);
    for (const key of toClose) {
      const state = states.get(key);
      if (state !== undefined) state.isToClose = true;
    }
  }

  /** Keeps what is stored now of a trace, for the next change of it. */
  remember(key: string, state: TraceState): void {
    state.release();
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
