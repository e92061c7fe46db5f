import type { PageRange } from '../../paging.js';
import type {
  FoundRuns,
  OutcomeChange,
  RunFilter,
  RunOutcome,
  Runs,
  RunSummary,
  StoredTrace,
} from '../../runs.js';
import type { SpanCursor } from '../queries/trace.js';
import { jsonPages } from '../rows/json-pages.js';
import type { StoreReach } from './store-reach.js';

/** The contract `Runs` for the daemon's thread. */
export class RunsClient implements Runs {
  readonly #reach: StoreReach;

  constructor(reach: StoreReach) {
    this.#reach = reach;
  }

  async read(userId: string, traceId: string, abort?: AbortSignal): Promise<StoredTrace | null> {
    const { tenant } = await this.#reach.user(userId);
    const found = await this.#reach.readAs(tenant, 'runs', 'read', [traceId], abort);
    if (found === null) return null;
    return {
      ...found.trace,
      spans: jsonPages(
        found.page,
        ({ next }) => next,
        (cursor: SpanCursor) => this.#reach.readAs(tenant, 'runs', 'spans', [cursor], abort),
      ),
    };
  }

  async list(userId: string, filter: RunFilter, page: PageRange, abort?: AbortSignal): Promise<FoundRuns> {
    const { tenant } = await this.#reach.user(userId);
    const { items, count, rest } = await this.#reach.readAs(tenant, 'runs', 'list', [filter, page], abort);
    if (rest.length === 0) return { items, count };
    return { items, count, rest: { runs: rest.length, pages: this.#pages(tenant, rest, abort) } };
  }

  async setOutcome(userId: string, traceId: string, change: OutcomeChange): Promise<RunOutcome | null> {
    const { users, order } = this.#reach.opened.known;
    return await order.send(
      userId,
      () => users.known(userId) ?? users.find(userId),
      async ({ tenant }) => await this.#reach.change('setOutcome', tenant, traceId, change),
    );
  }

  async *#pages(
    tenant: number,
    ids: readonly string[],
    abort: AbortSignal | undefined,
  ): AsyncGenerator<readonly RunSummary[]> {
    for (let rest = ids; rest.length > 0;) {
      const part = await this.#reach.readAs(tenant, 'runs', 'rest', [rest], abort);
      yield part.items;
      rest = part.rest;
    }
  }
}
