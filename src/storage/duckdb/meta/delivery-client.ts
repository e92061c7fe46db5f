import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { EventsBatch } from '../../../signal/batch.js';
import type { Micros } from '../../../signal/time.js';
import type {
  ClaimRequest,
  Claims,
  DeliveryAttempt,
  DeliveryDetail,
  DeliveryFigures,
  DeliveryStore,
  DeliverySummary,
  FinishedAttempt,
  FinishedRules,
  SenderLimits,
} from '../../delivery-store.js';
import type { AttemptsPart } from './delivery-history.js';
import type { TakenDeliveries } from './delivery-tables.js';
import { removedMeanwhile } from '../../removed-meanwhile.js';
import type { DeliveryMethod } from '../store-thread.js';

/** The queue of webhooks as the daemon's thread sees it: it asks the store thread, and tells of what may be due. */
export abstract class DeliveryClient implements DeliveryStore {
  readonly #deliveryListeners = new Set<() => void>();
  readonly #targets = new Set<readonly string[]>();

  /** Calls a method of `DeliveryTables` in the store thread. */
  protected abstract deliveries<T>(method: DeliveryMethod, ...args: unknown[]): Promise<T>;

  /** Calls a method of the store thread that is handed a port. */
  protected abstract handPort(
    method: 'openSender',
    args: readonly unknown[],
    port: MessagePort,
  ): Promise<void>;

  async addDeliveries(batch: EventsBatch, now: Micros): Promise<number> {
    const { added, isPushed } = await this.deliveries<TakenDeliveries>('addDeliveries', batch, now);
    if (!isPushed) this.tellOfDeliveries();
    return added;
  }

  async claimDeliveries(request: ClaimRequest): Promise<Claims> {
    return await this.deliveries('claimDeliveries', request);
  }

  async finishDeliveries(
    finished: readonly FinishedAttempt[],
    rules: FinishedRules,
  ): Promise<readonly string[]> {
    return await this.deliveries('finishDeliveries', finished, rules);
  }

  async removeDeliveries(before: Micros): Promise<number> {
    return await this.deliveries('removeDeliveries', before);
  }

  async deliveryFigures(now: Micros): Promise<DeliveryFigures> {
    return await this.deliveries('deliveryFigures', now);
  }

  async openSender(limits: SenderLimits): Promise<MessagePort> {
    const { port1, port2 } = new MessageChannel();
    await this.handPort('openSender', [limits, port2], port2);
    return port1;
  }

  watchDeliveries(listener: () => void): () => void {
    this.#deliveryListeners.add(listener);
    return () => this.#deliveryListeners.delete(listener);
  }

  async listDeliveries(
    slug: string,
    endpointId: string,
    page: { readonly offset: number; readonly limit: number },
  ): Promise<{ readonly items: readonly DeliverySummary[]; readonly count: number } | null> {
    return await this.deliveries('listDeliveries', slug, endpointId, page);
  }

  async readDelivery(slug: string, deliveryId: string): Promise<DeliveryDetail | null> {
    const found = await this.deliveries<(DeliveryDetail & AttemptsPart) | null>(
      'readDelivery',
      slug,
      deliveryId,
    );
    if (found === null) return null;
    const { last, ...delivery } = found;
    if (last === null) return delivery;
    return { ...delivery, furtherAttempts: this.#attempts(slug, deliveryId, last) };
  }

  async *#attempts(
    slug: string,
    deliveryId: string,
    after: number,
  ): AsyncGenerator<readonly DeliveryAttempt[]> {
    for (let last: number | null = after; last !== null;) {
      const part: AttemptsPart | null = await this.deliveries('readAttempts', slug, deliveryId, last);
      if (part === null) throw removedMeanwhile({ what: 'delivery', list: 'attempts' });
      yield part.attempts;
      last = part.last;
    }
  }

  async retryDelivery(slug: string, deliveryId: string): Promise<boolean> {
    const isThere = await this.deliveries<boolean>('retryDelivery', slug, deliveryId);
    if (isThere) this.tellOfDeliveries();
    return isThere;
  }

  announceTargets(allowCidrs: readonly string[]): () => void {
    // Two senders may announce the same list: each is taken back by itself.
    const announced = [...allowCidrs];
    this.#targets.add(announced);
    return () => this.#targets.delete(announced);
  }

  get allowedTargets(): readonly string[] {
    return [...new Set([...this.#targets].flat())];
  }

  /** After a change that may let deliveries be due: of an endpoint, too. */
  protected tellOfDeliveries(): void {
    for (const listener of this.#deliveryListeners) listener();
  }
}
