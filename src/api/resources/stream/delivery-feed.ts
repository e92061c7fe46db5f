import type { Clock } from '../../../component/telemetry.js';
import type { ControlStore } from '../../../storage/contracts/control-store.js';
import type { ChangedDelivery } from '../../../storage/contracts/deliveries.js';
import { InvalidatedCache } from '../../../storage/shared/invalidated-cache.js';
import { pause } from '../../../telemetry/pause.js';

/** Changes within this time are read together. */
const WAIT_MS = 250;
/** Delay after a failed read of the store. */
const RETRY_MS = 1000;
/** Maximum number of users whose organizations are cached. */
const MOST_USERS = 1000;

export type FollowedDeliveries = Pick<ControlStore, 'deliveries' | 'organizations' | 'watch'>;

/** A stream of a user. */
export interface DeliveryListener {
  readonly userId: string;
  notify(delivery: ChangedDelivery): void;
  /** Reports dropped changes whose owners are unknown. */
  lose(count: number): void;
}

/**
 * Queued, attempted or replayed deliveries, for the members of their organization. Read once for all streams, and only while a
 * stream listens.
 */
export class DeliveryFeed {
  readonly #control: FollowedDeliveries;
  readonly #clock: Clock;
  readonly #listeners = new Set<DeliveryListener>();
  #slugs: InvalidatedCache<ReadonlySet<string>> | null = null;
  #end: AbortController | null = null;

  constructor(control: FollowedDeliveries, clock: Clock) {
    this.#control = control;
    this.#clock = clock;
  }

  /** @returns a function that ends it */
  enter(listener: DeliveryListener): () => void {
    this.#listeners.add(listener);
    if (this.#end === null) {
      this.#end = new AbortController();
      this.#slugs = new InvalidatedCache(MOST_USERS, this.#clock, this.#control.watch, ['endpoints']);
      void this.#follow(this.#end.signal, this.#slugs);
    }
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#end?.abort();
      this.#slugs?.close();
      [this.#end, this.#slugs] = [null, null];
    };
  }

  async #follow(end: AbortSignal, slugs: InvalidatedCache<ReadonlySet<string>>): Promise<void> {
    let position: string | null = null;
    while (!end.aborted) {
      try {
        const { deliveries, next, lost } = await this.#control.deliveries.changes(position, end);
        await this.#notify(deliveries, slugs);
        if (lost > 0) for (const listener of this.#listeners) listener.lose(lost);
        position = next;
        await pause(this.#clock, WAIT_MS, end);
      } catch {
        // The store cannot be read; retry later.
        await pause(this.#clock, RETRY_MS, end);
      }
    }
  }

  async #notify(
    deliveries: readonly ChangedDelivery[],
    slugs: InvalidatedCache<ReadonlySet<string>>,
  ): Promise<void> {
    if (deliveries.length === 0) return;
    for (const listener of [...this.#listeners]) {
      const own = await slugs.answer(listener.userId, () => this.#slugsOf(listener.userId));
      if (!this.#listeners.has(listener)) continue;
      for (const delivery of deliveries) if (own?.has(delivery.org_slug)) listener.notify(delivery);
    }
  }

  async #slugsOf(userId: string): Promise<ReadonlySet<string>> {
    const memberships = await this.#control.organizations.membershipsOf(userId);
    return new Set(memberships.map(({ slug }) => slug));
  }
}
