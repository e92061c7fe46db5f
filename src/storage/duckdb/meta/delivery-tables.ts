import type { EventInterests } from '../events/interests.js';
import type { MetaConnection } from './meta-connection.js';
import type { MetaEvents } from './meta-events.js';

/** What the deliveries stand on. */
export interface DeliveryParts {
  readonly connection: MetaConnection;
  readonly events: MetaEvents;
  readonly interests: EventInterests;
}

/** The queue of webhooks in the main file. */
export class DeliveryTables {
  readonly #connection: MetaConnection;

  constructor({ connection }: DeliveryParts) {
    this.#connection = connection;
  }

  /** Nobody will tell how the attempts ended that were under way when the process before this one ended. */
  async load(): Promise<void> {
    await this.#connection.transaction(() =>
      this.#connection.run(
        'UPDATE waiting_deliveries SET lease = NULL, lease_until = NULL WHERE lease IS NOT NULL',
      ),
    );
  }

  /** In the transaction that deletes the endpoint: nothing is to be attempted any more. */
  async endpointDeleted(endpointId: string): Promise<void> {
    await this.#connection.run('DELETE FROM waiting_deliveries WHERE endpoint_id = ?::UUID', [endpointId]);
  }
}
