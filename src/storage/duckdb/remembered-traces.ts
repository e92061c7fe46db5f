import { RUNNING } from './trace-rows.js';
import type { TraceState } from './trace-state.js';

/** How many spans are remembered: of runs that go on, and of those that have ended, of which only stragglers come. */
export interface RememberedSpans {
  readonly running: number;
  readonly ended: number;
}

/**
 * The traces that were touched last, so that the spans that keep coming for a run need no look into the tables. What is
 * here is always what is stored: the one writer forgets what a commit that failed has touched.
 */
export class RememberedTraces {
  readonly #running: Shelf;
  readonly #ended: Shelf;

  /** @param most beyond it those touched longest ago are forgotten */
  constructor(most: RememberedSpans) {
    this.#running = new Shelf(most.running);
    this.#ended = new Shelf(most.ended);
  }

  get(key: string): TraceState | undefined {
    return this.#running.get(key) ?? this.#ended.get(key);
  }

  put(key: string, state: TraceState): void {
    const isRunning = state.header.status === RUNNING;
    const [shelf, other] = isRunning ? [this.#running, this.#ended] : [this.#ended, this.#running];
    other.forget(key);
    shelf.put(key, state);
  }

  forget(key: string): void {
    this.#running.forget(key);
    this.#ended.forget(key);
  }
}

class Shelf {
  readonly #traces = new Map<string, { readonly state: TraceState; readonly spans: number }>();
  readonly #maxSpans: number;
  #spans = 0;

  constructor(maxSpans: number) {
    this.#maxSpans = maxSpans;
  }

  get(key: string): TraceState | undefined {
    return this.#traces.get(key)?.state;
  }

  put(key: string, state: TraceState): void {
    this.forget(key);
    const spans = state.spans.size + 1;
    this.#traces.set(key, { state, spans });
    this.#spans += spans;
    for (const oldest of this.#traces.keys()) {
      if (this.#spans <= this.#maxSpans) break;
      this.forget(oldest);
    }
  }

  forget(key: string): void {
    const known = this.#traces.get(key);
    if (known === undefined) return;
    this.#traces.delete(key);
    this.#spans -= known.spans;
  }
}
