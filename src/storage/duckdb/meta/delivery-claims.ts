import type { Micros } from '../../../signal/time.js';
import type { ClaimRequest, Claims, DeliveryClaim, SenderLimits } from '../../delivery-store.js';
import type { PushedClaims } from '../../sender-queue.js';
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

/** Who is given claims without asking. */
interface PushedSender {
  readonly limits: SenderLimits;
  readonly give: (push: PushedClaims) => void;
}

/** Takes on what is due. */
export class DeliveryClaims {
  readonly #parts: ClaimParts;
  readonly #queue: DeliveryQueue;
  #sender: PushedSender | null = null;
  #lastPush = 0;
  /** What was claimed for the sender, and may not have come to it. */
  #pushed: PushedClaims[] = [];

  constructor(parts: ClaimParts, queue: DeliveryQueue) {
    this.#parts = parts;
    this.#queue = queue;
  }

  /** @param heard the number of the last push that came to the sender */
  async claim(request: ClaimRequest, heard: number): Promise<Claims> {
    return await this.#parts.connection.shared(async () => {
      const queues = await this.#held(request, heard);
      const room = this.#room(queues);
      const limits = { ...request, limit: Math.min(request.limit, room) };
      const { taken, nextDueAt } = takeTurns(queues, request.now, limits);
      return { claims: taken.length === 0 ? [] : await this.#take(taken, request.now), nextDueAt };
    });
  }

  /**
   * Gives a sender what {@link push} claims, from now on.
   *
   * @param give is told after the commit
   * @returns what ends it
   */
  pushTo(limits: SenderLimits, give: (push: PushedClaims) => void): () => void {
    const sender = { limits, give };
    this.#sender = sender;
    this.#pushed = [];
    return () => {
      if (this.#sender === sender) this.#sender = null;
    };
  }

  /**
   * Claims what is due for the sender that is to be given it, in the transaction under way.
   *
   * @returns false where nobody is, or where that is to be asked of the database: then the sender asks itself
   */
  async push(now: Micros): Promise<boolean> {
    const sender = this.#sender;
    const { connection, memory, interests } = this.#parts;
    const known = await memory.rows();
    if (sender === null || known === null) return false;
    const queues = queuesOf(known.values(), interests, sender.limits.perEndpoint);
    const { taken } = takeTurns(queues, now, { ...sender.limits, limit: this.#room(queues) });
    if (taken.length === 0) return true;
    const claims = await this.#take(taken, now);
    const push = { number: ++this.#lastPush, claims };
    this.#pushed.push(push);
    connection.afterCommit(() => {
      sender.give(push);
    });
    return true;
  }

  /** What the sender may take on beside what it has; what it asks for is another matter. */
  #room(queues: readonly EndpointQueue[]): number {
    if (this.#sender === null) return Infinity;
    const underWay = queues.reduce((sum, queue) => sum + queue.underWay.length, 0);
    return Math.max(0, this.#sender.limits.limit - underWay);
  }

  /** What waits, once what nobody holds is interrupted. */
  async #held({ held, perEndpoint }: ClaimRequest, heard: number): Promise<readonly EndpointQueue[]> {
    this.#pushed = this.#pushed.filter(({ number }) => number > heard);
    const onTheirWay = this.#pushed.flatMap(({ claims }) => claims);
    const leases = new Set([...held, ...onTheirWay].map(({ delivery, lease }) => `${delivery} ${lease}`));
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
    this.#queue.save(changed);
    return claims;
  }

  async #waiting(deliveries: readonly number[]): Promise<ReadonlyMap<number, WaitingRow>> {
    const known = await this.#parts.memory.rows();
    if (known !== null) return known;
    const rows = await this.#queue.read(`delivery IN (${listOf(deliveries)})`);
    return new Map(rows.map((row) => [row.delivery, row]));
  }
}
