import type { Micros } from '../../../signal/time.js';
import type { ClaimRequest, Claims, DeliveryClaim, SenderLimits } from '../../delivery-store.js';
import { takeTurns } from '../../delivery-turns.js';
import type { PushedClaims } from '../../sender-queue.js';
import type { EventInterests } from '../events/interests.js';
import type { DeliveryMemory } from './delivery-memory.js';
import type { DeliveryQueue } from './delivery-queue.js';
import { listOf, type WaitingRow } from './delivery-rows.js';
import { claimed } from '../../delivery-state.js';
import {
  endpointQueues,
  queuesOf,
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

/** The sender's part of {@link DeliveryClaims.pushTo}. */
export interface PushedTo {
  /** Whether no other has taken its place. */
  readonly isLast: () => boolean;
  /** Resolves when everything was given to it that is given without asking. */
  readonly end: () => Promise<void>;
}

/** What was claimed for a sender. */
interface Push {
  readonly sender: PushedSender;
  readonly claims: PushedClaims;
  /** Whether its transaction is committed. */
  isGiven: boolean;
}

/** Takes on what is due. */
export class DeliveryClaims {
  readonly #parts: ClaimParts;
  readonly #queue: DeliveryQueue;
  /** Who asks, too. */
  #sender: PushedSender | null = null;
  /** Whether it is given claims without asking. */
  #pushes = false;
  #lastPush = 0;
  /** What may not have come to the sender. */
  #pushed: Push[] = [];
  #isInDoubt = false;

  constructor(parts: ClaimParts, queue: DeliveryQueue) {
    this.#parts = parts;
    this.#queue = queue;
    parts.connection.onRollback(() => {
      this.#pushed = this.#pushed.filter(({ isGiven }) => isGiven);
      this.#isInDoubt = true;
    });
  }

  /**
   * A commit failed, which may have been made all the same: then attempts are under way of which nobody was told. The next
   * claim that the sender asks for finds them.
   */
  get isInDoubt(): boolean {
    return this.#isInDoubt;
  }

  /** @param heard the number of the last push that came to the sender */
  async claim(request: ClaimRequest, heard: number): Promise<Claims> {
    const { connection } = this.#parts;
    return await connection.shared(async () => {
      connection.afterCommit(() => {
        this.#isInDoubt = false;
      });
      const queues = await this.#held(request, heard);
      const room = this.#room(queues);
      const limits = { ...request, limit: Math.min(request.limit, room) };
      const { taken, nextDueAt } = takeTurns(queues, request.now, limits);
      return { claims: taken.length === 0 ? [] : await this.#take(taken, request.now), nextDueAt };
    });
  }

  /**
   * Gives a sender what {@link push} claims, from now on, instead of the one before.
   *
   * @param give is told after the commit
   */
  pushTo(limits: SenderLimits, give: (push: PushedClaims) => void): PushedTo {
    const sender = { limits, give };
    this.#sender = sender;
    this.#pushes = true;
    const isLast = (): boolean => this.#sender === sender;
    return {
      isLast,
      end: async () => {
        if (isLast()) this.#pushes = false;
        // Behind the transaction under way, which may have claimed for it.
        await this.#parts.connection.transaction(() => Promise.resolve());
      },
    };
  }

  /**
   * Claims what is due for the sender that is to be given it, in the transaction under way.
   *
   * @returns false where nobody is, or where that is to be asked of the database: then the sender asks itself
   */
  async push(now: Micros): Promise<boolean> {
    const { connection, memory, interests } = this.#parts;
    const known = await memory.rows();
    const sender = this.#sender;
    if (sender === null || !this.#pushes || known === null || this.#isInDoubt) return false;
    const queues = queuesOf(known.values(), interests, sender.limits.perEndpoint);
    const { taken } = takeTurns(queues, now, { ...sender.limits, limit: this.#room(queues) });
    if (taken.length === 0) return true;
    const claims = { number: ++this.#lastPush, claims: await this.#take(taken, now) };
    const push: Push = { sender, claims, isGiven: false };
    this.#pushed.push(push);
    connection.afterCommit(() => {
      push.isGiven = true;
      sender.give(claims);
    });
    return true;
  }

  /** What the sender may take on beside what it has, whatever it asks for. */
  #room(queues: readonly EndpointQueue[]): number {
    if (this.#sender === null) return Infinity;
    const underWay = queues.reduce((sum, queue) => sum + queue.underWay.length, 0);
    return Math.max(0, this.#sender.limits.limit - underWay);
  }

  /** What waits, once what nobody holds is interrupted. */
  async #held({ held, perEndpoint }: ClaimRequest, heard: number): Promise<readonly EndpointQueue[]> {
    this.#pushed = this.#pushed.filter(
      ({ sender, claims }) => sender === this.#sender && claims.number > heard,
    );
    const onTheirWay = this.#pushed.flatMap(({ claims }) => claims.claims);
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
