import type { Test } from 'tap';
import { envelope, type EventRecord, type EventType } from '../../src/signal/event.js';
import { uuidV7 } from '../../src/signal/ids.js';
import type {
  ClaimRequest,
  Claims,
  DeliveryClaim,
  FinishedAttempt,
} from '../../src/storage/delivery-store.js';
import type { DuckDBStore } from '../../src/storage/duckdb/store.js';
import type { StoredEndpoint } from '../../src/storage/webhook-endpoints.js';
import { anEndpoint, anOrganization } from '../storage/meta-records.js';
import { TestStore } from '../storage/test-store.js';
import { NOON } from '../support/run-records.js';

/** A store with a user in an organization, and short ways to what a sender does. */
export class DeliveryPlace {
  readonly opened: TestStore;
  readonly user: string;
  readonly slug = 'acme';
  now = NOON;
  /** Claims that the sender has: no others hold. */
  readonly #held = new Set<DeliveryClaim>();

  private constructor(opened: TestStore, user: string) {
    this.opened = opened;
    this.user = user;
  }

  static async open(t: Test): Promise<DeliveryPlace> {
    const opened = await TestStore.open(t);
    const place = new DeliveryPlace(opened, await opened.addUser());
    await opened.store.createOrganization(anOrganization(place.slug));
    await opened.store.putMember(place.slug, place.user, 'member');
    return place;
  }

  get store(): DuckDBStore {
    return this.opened.store;
  }

  async endpoint(changes: Partial<StoredEndpoint> = {}): Promise<StoredEndpoint> {
    const endpoint = anEndpoint({ event_types: ['*'], ...changes });
    await this.store.createEndpoint(this.slug, endpoint);
    return endpoint;
  }

  /** Another organization with an endpoint; the user is not in it. */
  async another(slug: string): Promise<{ readonly organizationId: string; readonly endpointId: string }> {
    const organization = anOrganization(slug);
    await this.store.createOrganization(organization);
    const endpoint = anEndpoint({ event_types: ['*'] });
    await this.store.createEndpoint(slug, endpoint);
    return { organizationId: organization.id, endpointId: endpoint.id };
  }

  event(changes: Partial<EventRecord> = {}): EventRecord {
    return anEventOf(this.now, changes);
  }

  /** @returns how many deliveries were added */
  async add(...events: readonly EventRecord[]): Promise<number> {
    return await this.store.addDeliveries({ tenant: this.user, items: [...events] }, this.now);
  }

  /** @param seconds to be let pass before */
  async claim(seconds = 0, limits: Partial<Omit<ClaimRequest, 'now' | 'held'>> = {}): Promise<Claims> {
    this.now += seconds * 1_000_000;
    const found = await this.store.claimDeliveries({
      now: this.now,
      limit: 100,
      perEndpoint: 100,
      perOrganization: 100,
      held: [...this.#held],
      ...limits,
    });
    for (const claim of found.claims) this.#held.add(claim);
    return found;
  }

  /** The sender does not have the claim any more, or never had it. */
  lose(claim: DeliveryClaim): void {
    this.#held.delete(claim);
  }

  /** The only claim that there is. */
  async claimOne(seconds = 0): Promise<DeliveryClaim> {
    const { claims } = await this.claim(seconds);
    const [claim] = claims;
    if (claim === undefined || claims.length > 1) throw new Error(`${claims.length} claims instead of one`);
    return claim;
  }

  async finish(results: readonly FinishedAttempt[], breakerThreshold = 20): Promise<readonly string[]> {
    return await this.store.finishDeliveries(results, { now: this.now, breakerThreshold });
  }

  /** As a list shows them, the newest first. */
  async list(endpoint: StoredEndpoint) {
    const found = await this.store.listDeliveries(this.slug, endpoint.id, { offset: 0, limit: 100 });
    if (found === null) throw new Error('there is no such endpoint');
    return found.items;
  }

  async detail(deliveryId: string) {
    const found = await this.store.readDelivery(this.slug, deliveryId);
    if (found === null) throw new Error('there is no such delivery');
    return found;
  }
}

export function anEventOf(now: number, changes: Partial<EventRecord> = {}): EventRecord {
  const event = {
    id: uuidV7(now / 1000),
    type: 'trace.failed' as EventType,
    timestamp: now,
    organization_id: null,
    endpoint_id: null,
    ...changes,
  };
  return { body: envelope(event, { some: 'data' }), ...event };
}

export function success(
  { delivery, lease }: DeliveryClaim,
  changes: Partial<FinishedAttempt> = {},
): FinishedAttempt {
  return {
    delivery,
    lease,
    succeeded: true,
    statusCode: 200,
    responseBody: 'thanks',
    durationMs: 12,
    error: null,
    retryAt: null,
    isGone: false,
    ...changes,
  };
}

/** @param retryAt when the schedule tries again */
export function failure(
  claim: DeliveryClaim,
  retryAt: number | null,
  changes: Partial<FinishedAttempt> = {},
): FinishedAttempt {
  return success(claim, { succeeded: false, statusCode: 500, responseBody: 'no', retryAt, ...changes });
}
