import type { DeliveryMethod } from '../store-thread.js';

/** The queue of webhooks as the daemon's thread sees it: it asks the store thread, and tells of what may be due. */
export abstract class DeliveryClient {
  readonly #deliveryListeners = new Set<() => void>();

  /** Calls a method of `DeliveryTables` in the store thread. */
  protected abstract deliveries<T>(method: DeliveryMethod, ...args: unknown[]): Promise<T>;

  watchDeliveries(listener: () => void): () => void {
    this.#deliveryListeners.add(listener);
    return () => this.#deliveryListeners.delete(listener);
  }

  /** After a change that may let deliveries be due: of an endpoint, too. */
  protected tellOfDeliveries(): void {
    for (const listener of this.#deliveryListeners) listener();
  }
}
