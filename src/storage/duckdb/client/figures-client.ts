import type { AlertFigures, ExampleQuery, Observed, Observing } from '../../contracts/alerts.js';
import type { StoreReach } from './store-reach.js';

/** The contract `AlertFigures` for the daemon's thread. */
export class FiguresClient implements AlertFigures {
  readonly #reach: StoreReach;

  constructor(reach: StoreReach) {
    this.#reach = reach;
  }

  async observe(request: Observing): Promise<Observed> {
    const { targets, metrics } = request;
    const users = [...targets.map(({ target }) => target.userId), ...metrics.map(({ userId }) => userId)];
    return await this.#reach.look('observe', request, await this.#tenantsOf(users));
  }

  async exampleTraces(queries: readonly ExampleQuery[]): Promise<readonly (readonly string[])[]> {
    const users = queries.map(({ target }) => target.userId);
    return await this.#reach.look('exampleTraces', queries, await this.#tenantsOf(users));
  }

  async #tenantsOf(userIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return await this.#reach.opened.known.users.tenants(userIds);
  }
}
