import { completingSpans } from '../../../runs/completing-spans.js';
import type { StoredRuns } from '../../../runs/stored-runs.js';
import { itemAt, invariant } from '../../../signal/checked.js';
import { TooMuchToLoad } from './reloads.js';
import type { RunSize } from './run-size.js';
import type { TraceState } from './trace-state.js';
import { isOfBatch, type BatchPart, type NewParts, type TouchedTrace } from './classify.js';
import type { IncomingBatch } from '../../incoming/incoming-batch.js';
import type { TraceChange } from './change.js';

/** The touched traces of a group, before any change is applied. */
export interface LoadedGroup {
  readonly touched: ReadonlyMap<string, TouchedTrace>;
  /** Traces whose spans in a batch are all new. */
  readonly fresh: NewParts;
  /** The stored ones, by key. */
  readonly states: ReadonlyMap<string, TraceState>;
}

/**
 * Reads the stored spans that the batches of a group complete, with their payloads, before the group is applied. Limited to {@link
 * RunSize.commitPayloadBytes}, because a few bytes of a batch can complete a span of megabytes.
 */
export class CompletedSpans {
  readonly #most: number;

  constructor({ commitPayloadBytes }: RunSize) {
    this.#most = commitPayloadBytes;
  }

  /**
   * Reads them into the states.
   *
   * @param changes of the group, in order
   * @throws TooMuchToLoad; the spans read so far are then released
   */
  async load(
    group: LoadedGroup,
    changes: readonly TraceChange[],
    stored: StoredRuns<TraceState>,
  ): Promise<void> {
    const read = new Read();
    for (const { state, part } of completedParts(group)) {
      const { batch, trace } = part;
      const isAhead = part.kind === 'ahead';
      const end = isAhead ? part.end : batch.end(trace);
      const found = completingSpans(state, batch, batch.start(trace), end);
      if (found.length === 0) continue;
      // An `ahead` part was already limited when its batch was tried.
      const left = isAhead ? Infinity : this.#most - read.bytes;
      const keys = found.map(({ key }) => key);
      const done = left > 0 ? await stored.readWhole(batch.tenant, state, keys, left) : { keys: 0, bytes: 0 };
      read.add(state, part, { keys: keys.slice(0, done.keys), bytes: done.bytes, to: found[done.keys]?.at });
      if (done.keys === keys.length) continue;
      read.letGo();
      throw new TooMuchToLoad(read.plan(batch, changes));
    }
  }
}

/** The spans read for a group. */
class Read {
  bytes = 0;
  readonly #batches = new Set<IncomingBatch>();
  /** The rows read of the last batch, as in `AheadChange`. */
  readonly #traces = new Map<number, number>();
  readonly #spans: { readonly state: TraceState; readonly keys: readonly string[] }[] = [];

  /** @param done.to first row of the batch that was not read; undefined if the trace was read completely */
  add(
    state: TraceState,
    { batch, trace }: BatchPart,
    done: { readonly keys: readonly string[]; readonly bytes: number; readonly to: number | undefined },
  ): void {
    this.bytes += done.bytes;
    this.#batches.add(batch);
    this.#spans.push({ state, keys: done.keys });
    if (done.keys.length > 0) this.#traces.set(trace, done.to ?? batch.end(trace));
  }

  letGo(): void {
    for (const { state, keys } of this.#spans) {
      for (const span of keys.flatMap((key) => state.find(key) ?? [])) {
        span.row = undefined;
        span.payload = undefined;
      }
    }
  }

  /**
   * If several batches exceed the limit together, fewer changes are tried, at most half, so that this converges for any order of
   * traces. If one batch alone exceeds it, the spans read so far are committed first.
   */
  plan(batch: IncomingBatch, changes: readonly TraceChange[]): TooMuchToLoad['plan'] {
    const places = changes.flatMap((change, place) =>
      change.kind === 'batch' && this.#batches.has(change.batch) ? place : [],
    );
    const last = invariant(places.at(-1), 'change of the group with the batch');
    const change = itemAt(
      changes,
      places.length > 1 ? Math.min(last, Math.max(1, changes.length >> 1)) : last,
    );
    if (places.length > 1) return { kind: 'up_to', before: change };
    return { kind: 'first', first: [{ kind: 'ahead', batch, traces: this.#traces }], before: change };
  }
}

/** Traces of batches that may have stored spans, in the order of application. */
function* completedParts({
  touched,
  fresh,
  states,
}: LoadedGroup): Generator<{ readonly state: TraceState; readonly part: BatchPart }> {
  for (const [key, { parts }] of touched) {
    const state = states.get(key);
    if (state === undefined) continue;
    for (const part of parts) {
      if (isOfBatch(part) && fresh.get(part.batch)?.has(part.trace) !== true) yield { state, part };
    }
  }
}
