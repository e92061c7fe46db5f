import type { Transaction } from 'kysely';
import { invariant } from '../../signal/checked.js';
import type { Micros } from '../../signal/time.js';
import type { ClaimRequest } from '../contracts/deliveries.js';
import { hostOfUrl, type HostTurns } from '../shared/host-turns.js';
import type { Tables } from './tables.js';

/** Waiting deliveries and running attempts of an endpoint. */
export interface ReadyDeliveries {
  readonly id: string;
  readonly organizationId: string;
  /** The host of its URL; undefined if it has none. */
  readonly host: string | undefined;
  readonly isActive: boolean;
  readonly underWay: number;
  /** When the first lease expires; null if no attempt is running. */
  readonly expiresAt: Micros | null;
  /** When the first waiting delivery is due; null if absent, or the endpoint is paused. */
  readonly first: Micros | null;
}

/** Reads some organizations, or all: three index look-ups per endpoint, for any backlog. */
export async function readEndpoints(
  tx: Transaction<Tables>,
  organizations?: readonly string[],
): Promise<readonly ReadyDeliveries[]> {
  const rows = await tx
    .selectFrom('webhook_endpoints as e')
    .select((row) => [
      'e.id',
      'e.organization_id',
      'e.is_active',
      'e.url',
      row
        .selectFrom('waiting_deliveries as w')
        .select((w) => w.fn.min('w.ready_at').as('first'))
        .whereRef('w.endpoint_id', '=', 'e.id')
        .where('w.ready_at', 'is not', null)
        .as('first'),
      row
        .selectFrom('waiting_deliveries as w')
        .select((w) => w.fn.min('w.expires_at').as('ends'))
        .whereRef('w.endpoint_id', '=', 'e.id')
        .where('w.expires_at', 'is not', null)
        .as('ends'),
      row
        .selectFrom('waiting_deliveries as w')
        .select((w) => w.fn.countAll<number>().as('under_way'))
        .whereRef('w.endpoint_id', '=', 'e.id')
        .where('w.expires_at', 'is not', null)
        .as('under_way'),
    ])
    .$if(organizations !== undefined, (query) =>
      query.where('e.organization_id', 'in', invariant(organizations, 'list of organizations')),
    )
    .execute();
  return rows.map((row) => ({
    id: row.id,
    organizationId: row.organization_id,
    host: hostOfUrl(row.url),
    isActive: row.is_active === 1,
    underWay: invariant(row.under_way, 'count of attempts under way'),
    expiresAt: row.ends,
    first: row.is_active === 1 ? row.first : null,
  }));
}

/** How many attempts to an endpoint can start. */
export function roomOf(
  { underWay, isActive, host }: ReadyDeliveries,
  { perEndpoint, limit }: ClaimRequest,
  hosts: HostTurns,
): number {
  return isActive ? Math.max(0, Math.min(limit, perEndpoint - underWay, hosts.roomOf(host))) : 0;
}

/**
 * The organizations to claim for: those with due deliveries or expired claims; at most one per requested delivery. Other senders may
 * claim for the rest.
 */
export function organizationsInTurn(
  seen: readonly ReadyDeliveries[],
  clock: Micros,
  request: ClaimRequest,
  hosts: HostTurns,
): readonly string[] {
  const found = new Map<string, { underWay: number; first: Micros; hasRoom: boolean; isLost: boolean }>();
  for (const endpoint of seen) {
    const { organizationId, underWay, expiresAt, first } = endpoint;
    const known = found.get(organizationId) ?? {
      underWay: 0,
      first: Infinity,
      hasRoom: false,
      isLost: false,
    };
    const isDue = first !== null && first <= request.now && roomOf(endpoint, request, hosts) > 0;
    found.set(organizationId, {
      underWay: known.underWay + underWay,
      first: isDue ? Math.min(known.first, first) : known.first,
      hasRoom: known.hasRoom || isDue,
      isLost: known.isLost || (expiresAt !== null && expiresAt <= clock),
    });
  }
  return [...found]
    .filter(([, { underWay, hasRoom, isLost }]) => isLost || (hasRoom && underWay < request.perOrganization))
    .sort(
      ([, a], [, b]) => Number(b.isLost) - Number(a.isLost) || a.underWay - b.underWay || a.first - b.first,
    )
    .slice(0, Math.max(1, request.limit))
    .map(([id]) => id);
}

/**
 * The endpoints with due deliveries to claim for: per organization at most as many as the limits of the organization and of hosts allow.
 */
export function endpointsInTurn(
  endpoints: readonly ReadyDeliveries[],
  request: ClaimRequest,
  hosts: HostTurns,
): ReadonlySet<string> {
  const taken = new Map<string, number>();
  const takenAtHosts = new Map<string, number>();
  const next = new Set<string>();
  const due = endpoints.filter(
    (endpoint): endpoint is ReadyDeliveries & { readonly first: Micros } =>
      endpoint.first !== null && endpoint.first <= request.now && roomOf(endpoint, request, hosts) > 0,
  );
  for (const { id, organizationId, host } of due.sort(
    (a, b) => a.underWay - b.underWay || a.first - b.first,
  )) {
    const count = taken.get(organizationId) ?? 0;
    const place = `${organizationId} ${host ?? ''}`;
    const atHost = takenAtHosts.get(place) ?? 0;
    if (count >= request.perOrganization || atHost >= hosts.roomOf(host)) continue;
    taken.set(organizationId, count + 1);
    takenAtHosts.set(place, atHost + 1);
    next.add(id);
  }
  return next;
}
