import { ALL_EVENTS, type EventRecord, type EventType } from '../../../signal/event.js';

/** What an endpoint wants, and what a delivery to it needs. */
export interface Subscription {
  readonly endpointId: string;
  readonly organizationId: string;
  readonly eventTypes: readonly string[];
  readonly isActive: boolean;
  /** Failed attempts in a row. */
  readonly failures: number;
  readonly url: string;
  readonly sealedSecret: string;
}

/** What of an event decides who is to have it. */
type SubscribedEvent = Pick<EventRecord, 'type' | 'organization_id' | 'endpoint_id'>;

/**
 * Which types of events somebody wants: an active endpoint of an organization that the user belongs to, or a reader of all.
 * It is as the last commit of the main file left it, and asked at every commit, at 60 000 spans/s: a set of words a user.
 */
export class EventInterests {
  readonly #subscriptions = new Map<string, Subscription>();
  /** The organizations of a tenant, by id. */
  readonly #organizations = new Map<number, Set<string>>();
  /** Asked for by readers, with how many want each. */
  readonly #read = new Map<string, number>();
  /** What follows from the rest, where it was asked since the last change. */
  readonly #ofTenants = new Map<number, ReadonlySet<string>>();

  /** Whether an event of that type of the tenant is to be written. */
  wants(tenant: number, type: EventType): boolean {
    let types = this.#ofTenants.get(tenant);
    if (types === undefined) {
      types = this.#wantedBy(this.#organizations.get(tenant) ?? new Set());
      this.#ofTenants.set(tenant, types);
    }
    return types.has(type) || types.has(ALL_EVENTS);
  }

  /** The same of an event that is an organization's. */
  organizationWants(organizationId: string, type: EventType): boolean {
    const types = this.#wantedBy(new Set([organizationId]));
    return types.has(type) || types.has(ALL_EVENTS);
  }

  /**
   * The ids of the active endpoints that are to have an event: of the owner's organizations, of the organization whose event
   * it is, or the one that it is for. A test of an endpoint goes to it whatever it subscribes to.
   *
   * @param tenant undefined where the owner is no user
   */
  subscribers(tenant: number | undefined, event: SubscribedEvent): readonly string[] {
    const { type, organization_id, endpoint_id } = event;
    const organizations =
      organization_id === null
        ? ((tenant === undefined ? undefined : this.#organizations.get(tenant)) ?? new Set())
        : new Set([organization_id]);
    const isFor = ({ endpointId, eventTypes }: Subscription): boolean =>
      endpoint_id === null
        ? eventTypes.includes(type) || eventTypes.includes(ALL_EVENTS)
        : endpointId === endpoint_id;
    return this.#activeOf(organizations)
      .filter(isFor)
      .map(({ endpointId }) => endpointId);
  }

  /** An endpoint, if it is there. */
  subscription(endpointId: string): Subscription | undefined {
    return this.#subscriptions.get(endpointId);
  }

  /** A new endpoint, or an endpoint as it is now. */
  put(subscription: Subscription): void {
    this.#subscriptions.set(subscription.endpointId, subscription);
    this.#ofTenants.clear();
  }

  /** An endpoint was deleted. */
  remove(endpointId: string): void {
    this.#subscriptions.delete(endpointId);
    this.#ofTenants.clear();
  }

  join(tenant: number, organizationId: string): void {
    const organizations = this.#organizations.get(tenant) ?? new Set();
    organizations.add(organizationId);
    this.#organizations.set(tenant, organizations);
    this.#ofTenants.delete(tenant);
  }

  leave(tenant: number, organizationId: string): void {
    this.#organizations.get(tenant)?.delete(organizationId);
    this.#ofTenants.delete(tenant);
  }

  /** A reader wants these types of everybody. @returns what withdraws it */
  read(types: readonly string[]): () => void {
    const count = (by: 1 | -1): void => {
      for (const type of types) this.#read.set(type, (this.#read.get(type) ?? 0) + by);
      this.#ofTenants.clear();
    };
    count(1);
    return () => {
      count(-1);
    };
  }

  #wantedBy(organizations: ReadonlySet<string>): ReadonlySet<string> {
    const types = new Set<string>();
    for (const [type, readers] of this.#read) if (readers > 0) types.add(type);
    for (const { eventTypes } of this.#activeOf(organizations))
      for (const type of eventTypes) types.add(type);
    return types;
  }

  #activeOf(organizations: ReadonlySet<string>): readonly Subscription[] {
    return [...this.#subscriptions.values()].filter(
      ({ isActive, organizationId }) => isActive && organizations.has(organizationId),
    );
  }
}
