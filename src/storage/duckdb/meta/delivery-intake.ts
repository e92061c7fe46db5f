import { ALL_EVENTS, type EventRecord } from '../../../signal/event.js';
import type { EventsBatch } from '../../../signal/batch.js';
import { uuidV7 } from '../../../signal/ids.js';
import type { Micros } from '../../../signal/time.js';
import type { Row } from '../database.js';
import { DELIVERIES, TAKEN_EVENTS } from './delivery-definitions.js';
import type { DeliveryQueue } from './delivery-queue.js';
import type { WaitingRow } from './delivery-rows.js';
import { queued } from './delivery-state.js';
import type { MetaConnection } from './meta-connection.js';

/** An active endpoint, for the events of a batch. */
interface Target {
  readonly endpointId: string;
  readonly organizationId: string;
  readonly eventTypes: ReadonlySet<string>;
  /** Whether it is of an organization of the user whose batch it is. */
  readonly isOwners: boolean;
}

/** Takes events: once each, with a delivery for every endpoint that is to have it. */
export class DeliveryIntake {
  readonly #connection: MetaConnection;
  readonly #queue: DeliveryQueue;
  #nextEvent = 1;
  #nextDelivery = 1;

  constructor(connection: MetaConnection, queue: DeliveryQueue) {
    this.#connection = connection;
    this.#queue = queue;
  }

  /** In the transaction under way: numbers go on behind those that are there. */
  async load(): Promise<void> {
    const [row] = await this.#connection.rows(
      'SELECT (SELECT coalesce(max(number), 0) FROM taken_events) AS event, (SELECT coalesce(max(number), 0) FROM deliveries) AS delivery',
    );
    this.#nextEvent = Number(row?.event) + 1;
    this.#nextDelivery = Number(row?.delivery) + 1;
  }

  async add({ tenant, items }: EventsBatch, now: Micros): Promise<number> {
    if (items.length === 0) return 0;
    return await this.#connection.shared(async () => {
      const targets = await this.#targets(tenant);
      // Nobody has to be asked about events that nobody is to have.
      const wanted = items.flatMap((event) => {
        const matching = targets.filter((target) => matches(event, target));
        return matching.length === 0 ? [] : [{ event, matching }];
      });
      const taken = await this.#taken(wanted.map(({ event }) => event.id));
      const events: Row[] = [];
      const deliveries: Row[] = [];
      const waiting: WaitingRow[] = [];
      for (const { event, matching } of wanted) {
        if (taken.has(event.id)) continue;
        taken.add(event.id);
        const number = this.#nextEvent++;
        events.push({ number, id: event.id, type: event.type, taken_at: now, body: event.body });
        for (const { endpointId } of matching) {
          const delivery = this.#nextDelivery++;
          const id = uuidV7(now / 1000);
          deliveries.push({ number: delivery, id, event: number, endpoint_id: endpointId, created_at: now });
          waiting.push({ delivery, id, event: number, endpointId, waiting: queued(now) });
        }
      }
      if (deliveries.length === 0) return 0;
      await this.#connection.run(...TAKEN_EVENTS.insertAll(events));
      await this.#connection.run(...DELIVERIES.insertAll(deliveries));
      await this.#queue.add(waiting);
      return deliveries.length;
    });
  }

  async #targets(tenant: string): Promise<readonly Target[]> {
    const rows = await this.#connection.rows(
      `SELECT id::VARCHAR AS id, organization_id::VARCHAR AS organization_id, event_types,
         organization_id IN (SELECT organization_id FROM members WHERE user_id = ?::UUID) AS is_owners
       FROM webhook_endpoints WHERE is_active`,
      [tenant],
    );
    return rows.map((row) => ({
      endpointId: String(row.id),
      organizationId: String(row.organization_id),
      eventTypes: new Set(String(row.event_types).split(' ')),
      isOwners: row.is_owners === true,
    }));
  }

  async #taken(ids: readonly string[]): Promise<Set<string>> {
    if (ids.length === 0) return new Set();
    const rows = await this.#connection.rows(
      `SELECT id::VARCHAR AS id FROM taken_events WHERE id IN (${ids.map(() => '?::UUID').join(', ')})`,
      ids,
    );
    return new Set(rows.map(({ id }) => String(id)));
  }
}

function matches(event: EventRecord, target: Target): boolean {
  const isOwners =
    event.organization_id === null ? target.isOwners : target.organizationId === event.organization_id;
  if (!isOwners) return false;
  if (event.endpoint_id !== null) return event.endpoint_id === target.endpointId;
  return target.eventTypes.has(event.type) || target.eventTypes.has(ALL_EVENTS);
}
