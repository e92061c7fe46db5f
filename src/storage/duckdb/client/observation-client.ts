import type { AlertFigures, ExampleQuery, Observed, Observing } from '../../alert-figures.js';
import type { ObservationMethod } from '../engine/store-thread.js';
import type { Tenants } from '../alerts/observations.js';

/** The {@link AlertFigures} of the daemon's thread: it asks the store thread. */
export abstract class ObservationClient implements AlertFigures {
  /** Calls a method of `Observations` in the store thread. */
  protected abstract observations<T>(method: ObservationMethod, ...args: unknown[]): Promise<T>;

  /** The numbers of users, by their ids. */
  protected abstract tenantsOf(userIds: readonly string[]): Promise<Tenants>;

  abstract identity(): Promise<string>;

  async observe(request: Observing): Promise<Observed> {
    const { targets, metrics } = request;
    const users = [...targets.map(({ target }) => target.userId), ...metrics.map(({ userId }) => userId)];
    return await this.observations('observe', request, await this.tenantsOf(users));
  }

  async exampleTraces(queries: readonly ExampleQuery[]): Promise<readonly (readonly string[])[]> {
    const users = queries.map(({ target }) => target.userId);
    return await this.observations('exampleTraces', queries, await this.tenantsOf(users));
  }
}
