import type { ApiCaller } from '../support/api-caller.js';
import { traceIdOf } from '../support/header-text.js';
import { anItem } from '../support/trace-batch.js';

/** Spans per run, all sent in one request. */
export const SPANS_OF_RUN = 3;

/** A user who sends one run after the other until stopped. */
export class WholeRuns {
  /** Ids of acknowledged runs. */
  readonly answered: string[] = [];
  readonly #key: string;
  readonly #writing: Promise<void>;
  #hasEnded = false;

  /** @param api returns the next target */
  constructor(api: () => ApiCaller, key: string) {
    this.#key = key;
    this.#writing = this.#write(api);
  }

  async end(): Promise<void> {
    this.#hasEnded = true;
    await this.#writing;
  }

  /** The number of stored spans by run id. */
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
