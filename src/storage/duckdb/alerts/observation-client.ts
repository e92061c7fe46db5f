import type { ExampleQuery, Observed, Observing, Touched } from '../../alert-figures.js';
import type { AlertStore } from '../../alert-store.js';
import { EventClient } from '../events/event-client.js';
import type { ObservationMethod } from '../store-thread.js';
import type { Tenants, TouchedTenants } from './observations.js';

/** The part of an {@link AlertStore} that reads the telemetry. */
type ObservationStore = Pick<AlertStore, 'watchTelemetry' | 'takeTouched' | 'observe' | 'exampleTraces'>;

/** The {@link ObservationStore} of the daemon's thread: it asks the store thread, and tells of what commits touched. */
export abstract class ObservationClient extends EventClient implements ObservationStore {
  readonly #touchListeners = new Set<() => void>();

  /** Calls a method of `Observations` in the store thread. */
  protected abstract observations<T>(method: ObservationMethod, ...args: unknown[]): Promise<T>;

  /** The numbers of users, by their ids. */
  protected abstract tenantsOf(userIds: readonly string[]): Promise<Tenants>;

  /** The ids of users, by their numbers. */
  protected abstract usersOf(tenants: readonly number[]): Promise<ReadonlyMap<number, string>>;

  watchTelemetry(listener: () => void): () => void {
    // One for each call, even where the same function comes twice.
    const call = (): void => {
      listener();
    };
    this.#touchListeners.add(call);
    // Where the store is not open there is nothing to be told either.
    this.observations('watch').catch(() => undefined);
    return () => {
      this.#touchListeners.delete(call);
    };
  }

  async takeTouched(): Promise<Touched> {
    const { agents, spansOf, pointsOf } = await this.observations<TouchedTenants>('takeTouched');
    const users = await this.usersOf([...spansOf, ...pointsOf]);
    const ids = (tenants: readonly number[]): string[] =>
      tenants.flatMap((tenant) => users.get(tenant) ?? []);
    return { agents, spansOf: ids(spansOf), pointsOf: ids(pointsOf) };
  }

  async observe(request: Observing): Promise<Observed> {
    const { targets, metrics } = request;
    const users = [...targets.map(({ target }) => target.userId), ...metrics.map(({ userId }) => userId)];
    return await this.observations('observe', request, await this.tenantsOf(users));
  }

  async exampleTraces(queries: readonly ExampleQuery[]): Promise<readonly (readonly string[])[]> {
    const users = queries.map(({ target }) => target.userId);
    return await this.observations('exampleTraces', queries, await this.tenantsOf(users));
  }

  /** After commits that touched what may concern alerts. */
  protected tellOfTouched(): void {
    for (const listener of this.#touchListeners) listener();
  }
}
