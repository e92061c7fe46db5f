import type { ApiCaller } from '../support/api-caller.js';
import { traceIdOf } from '../support/header-text.js';
import { anItem } from '../support/trace-batch.js';

/** Of each run, all of which come in one request. */
export const SPANS_OF_RUN = 3;

/** A user who sends one run after the other until it is told to end. */
export class WholeRuns {
  /** Ids of runs that were answered for. */
  readonly answered: string[] = [];
  readonly #key: string;
  readonly #writing: Promise<void>;
  #hasEnded = false;

  /** @param api who gets the next one */
  constructor(api: () => ApiCaller, key: string) {
    this.#key = key;
    this.#writing = this.#write(api);
  }

  async end(): Promise<void> {
    this.#hasEnded = true;
    await this.#writing;
  }

  /** The spans of its runs that a daemon has, by the ids of the runs. */
  async foundBy(api: ApiCaller): Promise<ReadonlyMap<string, number>> {
    const found = new Map<string, number>();
    for (let page = 1; ; page++) {
      const { items } = await api.get<{
        readonly items: readonly { readonly trace_id: string; readonly span_count: number }[];
      }>(`/dashboard/traces?page_size=100&page=${String(page)}`, this.#key);
      for (const { trace_id, span_count } of items) found.set(trace_id, span_count);
      if (items.length < 100) return found;
    }
  }

  async #write(api: () => ApiCaller): Promise<void> {
    while (!this.#hasEnded) {
      const item = anItem({ spans: SPANS_OF_RUN });
      await api().send([item], this.#key);
      this.answered.push(traceIdOf(item));
    }
  }
}
