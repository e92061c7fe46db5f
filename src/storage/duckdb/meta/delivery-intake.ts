import type { EventsBatch } from '../../../signal/batch.js';
import { uuidV7 } from '../../../signal/ids.js';
import type { Micros } from '../../../signal/time.js';
import type { Row } from '../connection.js';
import type { EventInterests } from '../events/interests.js';
import { DELIVERIES, TAKEN_EVENTS } from './delivery-definitions.js';
import type { DeliveryMemory } from './delivery-memory.js';
import type { DeliveryQueue } from './delivery-queue.js';
import type { WaitingRow } from './delivery-rows.js';
import { queued } from '../../delivery-state.js';
import type { MetaConnection } from './meta-connection.js';
import { TakenIds } from './taken-ids.js';
import { lastNumber } from './unusable-definition.js';

/** What the intake stands on. */
export interface IntakeParts {
  readonly connection: MetaConnection;
  readonly interests: EventInterests;
  readonly memory: DeliveryMemory;
  /** The tenant number of a user; undefined for any other id. */
  readonly tenantOf: (userId: string) => number | undefined;
}

/** Takes events: once each, with a delivery for every endpoint that is to have it. */
export class DeliveryIntake {
  readonly #parts: IntakeParts;
  readonly #queue: DeliveryQueue;
  readonly #taken: TakenIds;
  #nextEvent = 1;
  #nextDelivery = 1;

  constructor(parts: IntakeParts, queue: DeliveryQueue) {
    this.#parts = parts;
    this.#queue = queue;
    this.#taken = new TakenIds(parts.connection);
  }

  /** In the transaction under way: numbers go on behind those that are there. */
  async load(): Promise<void> {
    const [row] = await this.#parts.connection.rows(
      `SELECT ${lastNumber(TAKEN_EVENTS)} AS event, ${lastNumber(DELIVERIES)} AS delivery`,
    );
    this.#nextEvent = Number(row?.event) + 1;
    this.#nextDelivery = Number(row?.delivery) + 1;
    await this.#taken.load();
  }

  /** Old events were removed, and with them that they were taken. */
  eventsRemoved(): void {
    this.#taken.doubt();
  }

  /** In the transaction under way. @returns the ids of the deliveries that were added */
  async add({ tenant, items }: EventsBatch, now: Micros): Promise<readonly string[]> {
    const { connection, interests, memory, tenantOf } = this.#parts;
    const owner = tenantOf(tenant);
    // Nobody has to be asked about events that nobody is to have.
    const wanted = items.flatMap((event) => {
      const endpoints = interests.subscribers(owner, event);
      return endpoints.length === 0 ? [] : [{ event, endpoints }];
    });
    const taken = await this.#taken.among(wanted.map(({ event }) => event.id));
    const events: Row[] = [];
    const deliveries: Row[] = [];
    const waiting: WaitingRow[] = [];
    for (const { event, endpoints } of wanted) {
      if (taken.has(event.id)) continue;
      taken.add(event.id);
      this.#taken.add(event.id);
      const number = this.#nextEvent++;
      memory.keep(number, event);
      events.push({ number, id: event.id, type: event.type, taken_at: now, body: event.body });
      for (const endpointId of endpoints) {
        const delivery = this.#nextDelivery++;
        const id = uuidV7(now / 1000);
        deliveries.push({ number: delivery, id, event: number, endpoint_id: endpointId, created_at: now });
        waiting.push({ delivery, id, event: number, endpointId, waiting: queued(now) });
      }
    }
    connection.insert(TAKEN_EVENTS, events);
    connection.insert(DELIVERIES, deliveries);
    this.#queue.add(waiting);
    return waiting.map(({ id }) => id);
  }
}
