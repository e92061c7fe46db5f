import type { Micros } from '../../../signal/time.js';
import type { ClaimRequest, Claims, DeliveryClaim } from '../../delivery-store.js';
import type { EventInterests } from '../events/interests.js';
import type { DeliveryMemory } from './delivery-memory.js';
import type { DeliveryQueue } from './delivery-queue.js';
import { listOf, type WaitingRow } from './delivery-rows.js';
import { claimed } from './delivery-state.js';
import {
  endpointQueues,
  queuesOf,
  takeTurns,
  toEndpointQueue,
  type Candidate,
  type EndpointQueue,
} from './delivery-turns.js';
import type { MetaConnection } from './meta-connection.js';

/** What the claims stand on. */
export interface ClaimParts {
  readonly connection: MetaConnection;
  readonly interests: EventInterests;
  readonly memory: DeliveryMemory;
}

/** Takes on what is due. */
export class DeliveryClaims {
  readonly #parts: ClaimParts;
  readonly #queue: DeliveryQueue;

  constructor(parts: ClaimParts, queue: DeliveryQueue) {
    this.#parts = parts;
    this.#queue = queue;
  }

  async claim(request: ClaimRequest): Promise<Claims> {
    return await this.#parts.connection.shared(async () => {
      const queues = await this.#held(request);
      const { taken, nextDueAt } = takeTurns(queues, request.now, request);
      return { claims: taken.length === 0 ? [] : await this.#take(taken, request.now), nextDueAt };
    });
  }

  /** What waits, once what nobody holds is interrupted. */
  async #held({ held, perEndpoint }: ClaimRequest): Promise<readonly EndpointQueue[]> {
    const leases = new Set(held.map(({ delivery, lease }) => `${delivery} ${lease}`));
    const queues = await this.#read(perEndpoint);
    const lost = queues
      .flatMap(({ underWay }) => underWay)
      .filter(({ delivery, lease }) => !leases.has(`${delivery} ${lease}`));
    if (lost.length === 0) return queues;
    const those = listOf(lost.map(({ delivery }) => delivery));
    await this.#queue.interrupt(`delivery IN (${those})`, 'interrupted: nobody is making it');
    return await this.#read(perEndpoint);
  }

  async #read(perEndpoint: number): Promise<readonly EndpointQueue[]> {
    const { connection, interests, memory } = this.#parts;
    const known = await memory.rows();
    if (known !== null) return queuesOf(known.values(), interests, perEndpoint);
    const rows = await connection.rows(endpointQueues(perEndpoint));
    return rows.map((row) => toEndpointQueue(row, perEndpoint));
  }

  async #take(due: readonly Candidate[], now: Micros): Promise<readonly DeliveryClaim[]> {
    const { interests, memory } = this.#parts;
    const waiting = await this.#waiting(due.map(({ delivery }) => delivery));
    const events = await memory.events(due.map(({ event }) => event));
    const claims: DeliveryClaim[] = [];
    const changed: WaitingRow[] = [];
    for (const { delivery } of due) {
      const row = waiting.get(delivery);
      const event = row && events.get(row.event);
      const endpoint = row && interests.subscription(row.endpointId);
      if (!event || !endpoint) continue;
      const taken = { ...row, waiting: claimed(row.waiting, now) };
      changed.push(taken);
      claims.push({
        delivery,
        lease: taken.waiting.attempts,
        delivery_id: row.id,
        attempt: taken.waiting.attempts,
        isManual: taken.waiting.underWay?.isManual === true,
        step: row.waiting.step,
        event_id: event.id,
        event_type: event.type,
        body: event.body,
        endpoint_id: row.endpointId,
        url: endpoint.url,
        sealed_secret: endpoint.sealedSecret,
      });
    }
    await this.#queue.save(changed);
    return claims;
  }

  async #waiting(deliveries: readonly number[]): Promise<ReadonlyMap<number, WaitingRow>> {
    const known = await this.#parts.memory.rows();
    if (known !== null) return known;
    const rows = await this.#queue.read(`delivery IN (${listOf(deliveries)})`);
    return new Map(rows.map((row) => [row.delivery, row]));
  }
}
