import type {
  DeliveryDetail,
  DeliveryQueue,
  DeliverySummary,
} from '../../src/storage/contracts/deliveries.js';

/** A delivery and its owner. */
interface KeptDelivery {
  readonly slug: string;
  readonly endpointId: string;
  readonly delivery: DeliveryDetail;
}

/** In-memory deliveries for tests of the routes that show them. */
export class MemoryDeliveries implements Pick<DeliveryQueue, 'list' | 'read' | 'readAttempts' | 'retry'> {
  /** The ids of retried deliveries. */
  readonly retried: string[] = [];
  readonly #kept: KeptDelivery[] = [];

  /** @param delivery newer than those before it */
  add(slug: string, endpointId: string, delivery: DeliveryDetail): void {
    this.#kept.unshift({ slug, endpointId, delivery });
  }

  async list(
    slug: string,
    endpointId: string,
    { offset, limit }: { readonly offset: number; readonly limit: number },
  ): Promise<{ readonly items: readonly DeliverySummary[]; readonly count: number } | null> {
    const found = this.#kept.filter((kept) => kept.slug === slug && kept.endpointId === endpointId);
    if (found.length === 0) return null;
    const items = found.slice(offset, offset + limit).map(({ delivery }) => delivery);
    return { items, count: found.length };
  }

  async read(slug: string, deliveryId: string): Promise<DeliveryDetail | null> {
    const id = deliveryId.toLowerCase();
    return this.#kept.find((kept) => kept.slug === slug && kept.delivery.id === id)?.delivery ?? null;
  }

  async readAttempts(): Promise<null> {
    return null;
  }

  async retry(slug: string, deliveryId: string): Promise<boolean> {
    if ((await this.read(slug, deliveryId)) === null) return false;
    this.retried.push(deliveryId);
    return true;
  }
}
