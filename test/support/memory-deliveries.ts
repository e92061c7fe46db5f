import type { ShownDeliveries } from '../../src/api/support/api-context.js';
import type { DeliveryDetail, DeliverySummary } from '../../src/storage/delivery-store.js';

/** A delivery, and whose it is. */
interface KeptDelivery {
  readonly slug: string;
  readonly endpointId: string;
  readonly delivery: DeliveryDetail;
}

/** Deliveries as a test says that they are, for what shows them. */
export class MemoryDeliveries implements ShownDeliveries {
  /** May be replaced, as exporters start and end. */
  allowedTargets: readonly string[] = [];
  /** The ids of deliveries that were to be attempted once more. */
  readonly retried: string[] = [];
  readonly #kept: KeptDelivery[] = [];

  /** @param delivery is newer than those before it */
  add(slug: string, endpointId: string, delivery: DeliveryDetail): void {
    this.#kept.unshift({ slug, endpointId, delivery });
  }

  async listDeliveries(
    slug: string,
    endpointId: string,
    { offset, limit }: { readonly offset: number; readonly limit: number },
  ): Promise<{ readonly items: readonly DeliverySummary[]; readonly count: number } | null> {
    const found = this.#kept.filter((kept) => kept.slug === slug && kept.endpointId === endpointId);
    if (found.length === 0) return null;
    const items = found.slice(offset, offset + limit).map(({ delivery }) => delivery);
    return { items, count: found.length };
  }

  async readDelivery(slug: string, deliveryId: string): Promise<DeliveryDetail | null> {
    const id = deliveryId.toLowerCase();
    return this.#kept.find((kept) => kept.slug === slug && kept.delivery.id === id)?.delivery ?? null;
  }

  async retryDelivery(slug: string, deliveryId: string): Promise<boolean> {
    if ((await this.readDelivery(slug, deliveryId)) === null) return false;
    this.retried.push(deliveryId);
    return true;
  }
}
