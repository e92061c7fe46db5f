import type { TraceState } from './trace-state.js';

/**
 * The traces that were touched last, so that the spans that keep coming for a long run need no look into the tables.
 * What is here is always what is stored: the one writer forgets everything when a commit fails.
 */
export class RememberedTraces {
  readonly #traces = new Map<string, { readonly state: TraceState; readonly spans: number }>();
  readonly #maxSpans: number;
  #spans = 0;

  /** @param maxSpans of all traces together; beyond it those touched longest ago are forgotten */
  constructor(maxSpans: number) {
    this.#maxSpans = maxSpans;
  }

  get(key: string): TraceState | undefined {
    return this.#traces.get(key)?.state;
  }

  put(key: string, state: TraceState): void {
    this.#forget(key);
    const spans = state.spans.size + 1;
    this.#traces.set(key, { state, spans });
    this.#spans += spans;
    for (const oldest of this.#traces.keys()) {
      if (this.#spans <= this.#maxSpans) break;
      this.#forget(oldest);
    }
  }

  clear(): void {
    this.#traces.clear();
    this.#spans = 0;
  }

  #forget(key: string): void {
    const known = this.#traces.get(key);
    if (known === undefined) return;
    this.#traces.delete(key);
    this.#spans -= known.spans;
  }
}
