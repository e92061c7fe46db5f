import type { EventsBatch } from '../../../signal/batch.js';
import type { EventRecord } from '../../../signal/event.js';
import type { Micros } from '../../../signal/time.js';
import type {
  ClaimRequest,
  Claims,
  DeliveryDetail,
  DeliveryFigures,
  DeliveryStore,
  DeliverySummary,
  FinishedAttempt,
  FinishedRules,
  SenderLimits,
} from '../../delivery-store.js';
import type { PushedClaims } from '../../sender-queue.js';
import { isNoRoom } from '../disk-room.js';
import { DeliveryClaims, type PushedTo } from './delivery-claims.js';
import { DeliveryHistory, type AttemptsPart } from './delivery-history.js';
import { DeliveryIntake, type IntakeParts } from './delivery-intake.js';
import { DeliveryMemory } from './delivery-memory.js';
import { DeliveryQueue } from './delivery-queue.js';
import { DeliveryResults, type DeliveryParts } from './delivery-results.js';
import { asked, atRest } from '../../delivery-state.js';
import type { MetaConnection } from './meta-connection.js';

/** The part of a {@link DeliveryStore} that needs the database. */
type Tables = Omit<
  DeliveryStore,
  'addDeliveries' | 'openSender' | 'watchDeliveries' | 'announceTargets' | 'allowedTargets'
>;

/** What came of events that were to be taken. */
export interface TakenDeliveries {
  readonly added: number;
  /** Whether a sender was given of them what was due; otherwise it has to ask. */
  readonly isPushed: boolean;
}

/** The queue of webhooks in the main file. */
export class DeliveryTables implements Tables {
  readonly #connection: MetaConnection;
  readonly #queue: DeliveryQueue;
  readonly #intake: DeliveryIntake;
  readonly #claims: DeliveryClaims;
  readonly #results: DeliveryResults;
  readonly #history: DeliveryHistory;

  constructor(surroundings: Omit<DeliveryParts & IntakeParts, 'memory'>) {
    const { connection } = surroundings;
    const memory = new DeliveryMemory(connection);
    const parts = { ...surroundings, memory };
    this.#connection = connection;
    this.#queue = new DeliveryQueue(connection, memory);
    this.#intake = new DeliveryIntake(parts, this.#queue);
    this.#claims = new DeliveryClaims(parts, this.#queue);
    this.#results = new DeliveryResults(parts, this.#queue);
    this.#history = new DeliveryHistory(connection, memory);
  }

  /** Nobody makes an attempt any more that was under way when the store was last closed, or its process ended. */
  async load(): Promise<void> {
    await this.#connection.transaction(() => this.#intake.load());
    try {
      await this.#connection.transaction(() => this.#queue.interrupt('true', 'interrupted by restart'));
    } catch (error) {
      // The sender's first question does it, as soon as there is room: it names none of them.
      if (!isNoRoom(error)) throw error;
    }
  }

  async addDeliveries(batch: EventsBatch, now: Micros): Promise<TakenDeliveries> {
    if (batch.items.length === 0) return { added: 0, isPushed: true };
    return await this.#connection.shared(async () => {
      const { length: added } = await this.#intake.add(batch, now);
      // What was taken before may have been taken by a commit that failed, and nobody was told.
      const isPushed = added === 0 ? !this.#claims.isInDoubt : await this.#claims.push(now);
      return { added, isPushed };
    });
  }

  /**
   * In the transaction that writes an event of an organization: takes it ahead of those who read events. When they bring it,
   * it was taken before.
   *
   * @returns the ids of the deliveries that were added
   */
  async takeAhead(event: EventRecord, organizationId: string, now: Micros): Promise<readonly string[]> {
    return await this.#intake.add({ tenant: organizationId, items: [event] }, now);
  }

  async claimDeliveries(request: ClaimRequest, heard = 0): Promise<Claims> {
    return await this.#claims.claim(request, heard);
  }

  /** As `DeliveryClaims.pushTo`. */
  pushTo(limits: SenderLimits, give: (push: PushedClaims) => void): PushedTo {
    return this.#claims.pushTo(limits, give);
  }

  async finishDeliveries(
    finished: readonly FinishedAttempt[],
    rules: FinishedRules,
  ): Promise<readonly string[]> {
    return await this.#results.finish(finished, rules);
  }

  async removeDeliveries(before: Micros): Promise<number> {
    let removed = 0;
    for (;;) {
      const some = await this.#history.removeSome(before);
      if (some === 0) break;
      removed += some;
    }
    this.#intake.eventsRemoved();
    return removed;
  }

  async deliveryFigures(now: Micros): Promise<DeliveryFigures> {
    return await this.#queue.figures(now);
  }

  async listDeliveries(
    slug: string,
    endpointId: string,
    page: { readonly offset: number; readonly limit: number },
  ): Promise<{ readonly items: readonly DeliverySummary[]; readonly count: number } | null> {
    return await this.#history.list(slug, endpointId, page);
  }

  async readDelivery(slug: string, deliveryId: string): Promise<(DeliveryDetail & AttemptsPart) | null> {
    return await this.#history.read(slug, deliveryId);
  }

  async readAttempts(slug: string, deliveryId: string, after: number): Promise<AttemptsPart | null> {
    return await this.#history.readAttempts(slug, deliveryId, after);
  }

  async retryDelivery(slug: string, deliveryId: string): Promise<boolean> {
    return await this.#connection.transaction(async () => {
      const found = await this.#history.find(slug, deliveryId);
      if (found === null) return false;
      const { ids, isActive } = found;
      if (!isActive) return true;
      const waiting = found.waiting ?? atRest(await this.#history.countAttempts(ids));
      this.#queue.save([{ ...ids, waiting: asked(waiting) }]);
      return true;
    });
  }

  /** In the transaction that pauses an endpoint. */
  async endpointPaused(endpointId: string): Promise<void> {
    await this.#queue.forgetManual([endpointId]);
  }

  /** In the transaction that makes a paused endpoint active again. */
  async endpointResumed(endpointId: string, now: Micros): Promise<void> {
    await this.#queue.resume(endpointId, now);
  }

  /** In the transaction that deletes an endpoint: its history goes with it. */
  async endpointDeleted(endpointId: string): Promise<void> {
    await this.#history.removeOf(endpointId);
  }
}
