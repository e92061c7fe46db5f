import type { ExampleQuery, Observed, Observing, Touched } from '../../alert-figures.js';
import type { AlertStore } from '../../alert-store.js';
import { EventClient } from '../events/event-client.js';
import type { ObservationMethod } from '../store-thread.js';

/** The part of an {@link AlertStore} that reads the telemetry. */
type ObservationStore = Pick<AlertStore, 'watchTelemetry' | 'takeTouched' | 'observe' | 'exampleTraces'>;

/** The {@link ObservationStore} of the daemon's thread: it asks the store thread, and tells of what commits touched. */
export abstract class ObservationClient extends EventClient implements ObservationStore {
  readonly #touchListeners = new Set<() => void>();

  /** Calls a method of `Observations` in the store thread. */
  protected abstract observations<T>(method: ObservationMethod, ...args: unknown[]): Promise<T>;

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
    return await this.observations('takeTouched');
  }

  async observe(request: Observing): Promise<Observed> {
    return await this.observations('observe', request);
  }

  async exampleTraces(queries: readonly ExampleQuery[]): Promise<readonly (readonly string[])[]> {
    return await this.observations('exampleTraces', queries);
  }

  /** After commits that touched what may concern alerts. */
  protected tellOfTouched(): void {
    for (const listener of this.#touchListeners) listener();
  }
}
