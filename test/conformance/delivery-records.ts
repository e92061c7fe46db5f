import { randomUUID } from 'node:crypto';
import { envelope, type EventType } from '../../src/signal/event.js';
import type { ControlStore } from '../../src/storage/contracts/control-store.js';
import type {
  ClaimRequest,
  DeliveryClaim,
  FinishedAttempt,
  StoredEndpoint,
} from '../../src/storage/contracts/deliveries.js';
import type { StoredEvent } from '../../src/storage/contracts/events.js';
import { anEndpoint, anOrganization, aUser } from '../storage/duckdb/meta-records.js';
import { NOON } from '../support/run-records.js';

export const LONG = 600_000;
export const SHORT = 50;
export const MINUTE = 60_000_000;
export const HOUR = 60 * MINUTE;
export const RULES = { now: NOON, breakerThreshold: 3 };

export function anEvent(tenant: string, changes: Partial<StoredEvent['event']> = {}): StoredEvent {
  const type: EventType = changes.type ?? 'trace.failed';
  const head = { id: randomUUID(), type, timestamp: NOON };
  return {
    tenant,
    event: { ...head, organization_id: null, endpoint_id: null, body: envelope(head, {}), ...changes },
  };
}

export function some(count: number, tenant: string): StoredEvent[] {
  return Array.from({ length: count }, () => anEvent(tenant));
}

export function request(changes: Partial<ClaimRequest> = {}): ClaimRequest {
  return {
    now: NOON,
    limit: 100,
    perEndpoint: 100,
    perOrganization: 100,
    perHost: 100,
    leaseMs: LONG,
    ...changes,
  };
}

export function result(
  { delivery_id, attempt }: DeliveryClaim,
  changes: Partial<FinishedAttempt> = {},
): FinishedAttempt {
  return {
    delivery_id,
    attempt,
    succeeded: true,
    statusCode: 200,
    responseBody: 'ok\0',
    durationMs: 12.4,
    error: null,
    retryAt: null,
    isGone: false,
    ...changes,
  };
}

export function failure(claim: DeliveryClaim, changes: Partial<FinishedAttempt> = {}): FinishedAttempt {
  return result(claim, { succeeded: false, statusCode: 500, retryAt: NOON + MINUTE, ...changes });
}

interface Owner {
  readonly userId: string;
  readonly slug: string;
  readonly organizationId: string;
  readonly endpoints: readonly StoredEndpoint[];
}

/** A user with its own organization and endpoints. */
export async function anOwner(store: ControlStore, slug: string, count = 1): Promise<Owner> {
  const user = aUser();
  const organization = anOrganization(slug);
  await store.accounts.createUser(user);
  await store.organizations.create(organization);
  await store.organizations.putMember(slug, user.id);
  const endpoints = Array.from({ length: count }, (_, i) => anEndpoint({ created_at: NOON + i }));
  for (const endpoint of endpoints) await store.endpoints.create(slug, endpoint);
  return { userId: user.id, slug, organizationId: organization.id, endpoints };
}

export function idOf({ endpoints }: Owner, at = 0): string {
  return endpoints[at]?.id ?? '';
}

export function only<Item>(items: readonly Item[]): Item {
  const [item] = items;
  if (item === undefined || items.length !== 1) throw new Error(`${String(items.length)} and not one`);
  return item;
}

export function count(
  claims: readonly DeliveryClaim[],
  of: (claim: DeliveryClaim) => string,
): Map<string, number> {
  const counts = new Map<string, number>();
  for (const claim of claims) counts.set(of(claim), (counts.get(of(claim)) ?? 0) + 1);
  return counts;
}
