import type { KnownRuns, RunToRead, SpanIds, StoredRun, StoredRuns } from '../../../runs/stored-runs.js';
import type { Micros } from '../../../signal/time.js';
import { formatUuid } from '../../../worker/uuid-words.js';
import { RememberedRuns } from '../../../runs/remembered-runs.js';
import type { Reloads, RunToLoad } from './reloads.js';
import type { RunSize } from './run-size.js';
import type { TraceState } from './trace-state.js';
import { isOfBatch, type TouchedTrace } from './classify.js';
import type { TraceChange } from './change.js';

interface WantedRun extends RunToRead {
  readonly key: string;
}

/** The stored state of the traces that a commit touches, from memory or from the tables. */
export class KnownTraces {
  readonly #ids: KnownRuns;
  readonly #remembered: RememberedRuns<TraceState>;
  readonly #reloads: Reloads;
  #forgottenBefore: Micros = -Infinity;

  /** @param ids which runs are stored */
  constructor(ids: KnownRuns, reloads: Reloads, size: RunSize) {
    this.#ids = ids;
    this.#remembered = new RememberedRuns(size.remembered);
    this.#reloads = reloads;
  }

  /**
   * The states of the touched traces that are stored, by key.
   *
   * @param changes of the group, in order
   * @throws TooMuchToLoad
   */
  async load(
    touched: ReadonlyMap<string, TouchedTrace>,
    changes: readonly TraceChange[],
    stored: StoredRuns<TraceState>,
  ): Promise<Map<string, TraceState>> {
    const states = new Map<string, TraceState>();
    const wanted = new Map<number, WantedRun[]>();
    const inMemory: RunToLoad[] = [];
    for (const [key, trace] of touched) {
      const { tenant, words, offset, parts } = trace;
      const remembered = this.#remembered.get(key);
      if (remembered !== undefined && remembered.header.started_at >= this.#forgottenBefore) {
        states.set(key, remembered);
        remembered.isToTruncate = parts.some(({ kind }) => kind === 'truncate');
        if (isRecomputed(remembered, parts)) inMemory.push({ key, trace, spans: remembered.spans.size });
        continue;
      }
      const found = this.#ids.find(tenant, words, offset);
      if (found === 0) continue;
      const list = wanted.get(tenant) ?? [];
      list.push({ key, id: formatUuid(words, offset), found });
      wanted.set(tenant, list);
    }
    this.#reloads.checkRecomputed(inMemory);
    if (wanted.size > 0) await this.#loadForgotten(wanted, states, { touched, changes, stored });
    for (const [key, state] of states) {
      const trace = touched.get(key);
      if (trace !== undefined && state.truncated !== null)
        await stored.readSpans(trace, state, spanIdsOf(trace));
    }
    return states;
  }

  async #loadForgotten(
    wanted: ReadonlyMap<number, readonly WantedRun[]>,
    states: Map<string, TraceState>,
    group: {
      readonly touched: ReadonlyMap<string, TouchedTrace>;
      readonly changes: readonly TraceChange[];
      readonly stored: StoredRuns<TraceState>;
    },
  ): Promise<void> {
    const found = new Map<number, StoredRun<TraceState>[]>();
    const open: RunToLoad[] = [];
    for (const [tenant, traces] of wanted) {
      const stored = await group.stored.readHeaders(tenant, traces);
      found.set(
        tenant,
        [...stored.values()].filter(({ state }) => state.truncated === null),
      );
      for (const { key, id } of traces) {
        const run = stored.get(id);
        const trace = group.touched.get(key);
        if (run === undefined || trace === undefined) continue;
        states.set(key, run.state);
        if (run.state.truncated === null) open.push({ key, trace, spans: run.spans });
      }
    }
    const toTruncate = this.#reloads.take(group.changes, open);
    for (const [tenant, runs] of found) await group.stored.readFacts(tenant, runs);
    for (const key of toTruncate) {
      const state = states.get(key);
      if (state !== undefined) state.isToTruncate = true;
    }
  }

  /** Caches the stored state of a trace for its next change. */
  remember(key: string, state: TraceState): void {
    state.release();
    if (state.header.started_at >= this.#forgottenBefore) this.#remembered.put(key, state);
  }

  /** Drops traces whose computed state is invalid. */
  forget(keys: Iterable<string>): void {
    for (const key of keys) this.#remembered.forget(key);
  }

  /** Drops cached traces that started before this time, because they are being removed from the tables. */
  forgetBefore(time: Micros): void {
    this.#forgottenBefore = time;
  }
}

/** Whether these parts add spans to a run that must be recomputed from all its spans. */
export function isRecomputed(state: TraceState, parts: TouchedTrace['parts']): boolean {
  return state.truncated === null && parts.some(isOfBatch);
}

/** The ids of the incoming spans of a trace. */
function spanIdsOf({ parts }: TouchedTrace): SpanIds[] {
  return parts.flatMap((part) => {
    if (!isOfBatch(part)) return [];
    const { batch, trace } = part;
    return { words: batch.spanIds, from: batch.start(trace), to: batch.end(trace) };
  });
}
