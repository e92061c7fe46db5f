import { sql, type Transaction } from 'kysely';
import { MICROS_PER_MS } from '../../signal/time-units.js';
import type { Micros } from '../../signal/time.js';
import type { ClaimRequest, Claims, DeliveryClaim } from '../contracts/deliveries.js';
import { claimed } from './delivery-state.js';
import { earliest, takeTurns, type EndpointTurns, type WaitingTurn } from '../shared/delivery-turns.js';
import { HostTurns } from '../shared/host-turns.js';
import {
  endpointsInTurn,
  organizationsInTurn,
  readEndpoints,
  roomOf,
  type ReadyDeliveries,
} from './ready-deliveries.js';
import type { Dialect } from './dialect.js';
import type { Tables } from './tables.js';
import { interrupt, saveWaiting, toWaiting, type WaitingDelivery } from './waiting-rows.js';

interface Turn extends WaitingTurn {
  /** Null if it is not due, and its row was not read. */
  readonly row: WaitingDelivery | null;
}

/** The current time of the clock that decides about leases. */
export async function leaseClock(tx: Transaction<Tables>, dialect: Dialect): Promise<Micros> {
  const { rows } = await sql<{ now: number }>`select ${dialect.now()} as now`.execute(tx);
  const [row] = rows;
  if (row === undefined) throw new Error('the database returned no time');
  return row.now;
}

/**
 * Claims due deliveries fairly. Reads a few rows per endpoint from an index: one window over all waiting deliveries takes ten times as
 * long with a large backlog.
 */
export async function claimDue(
  tx: Transaction<Tables>,
  dialect: Dialect,
  request: ClaimRequest,
): Promise<Claims & { readonly interrupted: readonly string[] }> {
  const clock = await leaseClock(tx, dialect);
  const seen = await readEndpoints(tx);
  const inTurn = organizationsInTurn(seen, clock, request, hostsOf(seen, request));
  const locked = await lockOrganizations(tx, dialect, inTurn);
  const interrupted = await interruptExpired(tx, dialect, [...locked], clock);
  // Read again under the lock: until it ends, the number of running attempts of these endpoints can only decrease.
  const endpoints = locked.size === 0 ? [] : await readEndpoints(tx, [...locked]);
  const others = seen.filter(({ organizationId }) => !locked.has(organizationId));
  const hosts = hostsOf([...others, ...endpoints], request);
  const isNext = endpointsInTurn(endpoints, request, hosts);
  const queues: EndpointTurns<Turn>[] = [];
  let number = 0;
  for (const endpoint of endpoints) {
    const room = roomOf(endpoint, request, hosts);
    const rows = isNext.has(endpoint.id) ? await readFirst(tx, dialect, endpoint, room) : [];
    const turns = rows.map((row, place) => ({
      row,
      due: row.waiting.manual > 0 ? 0 : (row.waiting.dueAt ?? 0),
      delivery: number++,
      ofEndpoint: endpoint.underWay + place,
    }));
    queues.push({
      organizationId: endpoint.organizationId,
      host: endpoint.host,
      underWay: { length: endpoint.underWay },
      candidates: turns.length > 0 || room === 0 ? turns : laterTurn(endpoint, request.now),
    });
  }
  const { taken, nextDueAt } = takeTurns(queues, request.now, request, hosts);
  const expiresAt = clock + request.leaseMs * MICROS_PER_MS;
  const claims = await take(
    tx,
    taken.flatMap(({ row }) => row ?? []),
    { now: request.now, expiresAt },
  );
  const ends = [...others, ...endpoints].flatMap((endpoint) => endpoint.expiresAt ?? []);
  if (claims.length > 0) ends.push(expiresAt);
  return {
    claims,
    interrupted,
    nextDueAt: earliest([
      ...(nextDueAt === null ? [] : [nextDueAt]),
      ...ends.map((end) => request.now + Math.max(0, end - clock)),
      ...firstOfOthers(others, request, hosts),
    ]),
  };
}

async function lockOrganizations(
  tx: Transaction<Tables>,
  dialect: Dialect,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const query = tx.selectFrom('organizations').select('id').where('id', 'in', ids).orderBy('id');
  return new Set((await dialect.lockSkipping(query).execute()).map(({ id }) => id));
}

/** Running attempts by host. */
function hostsOf(endpoints: readonly ReadyDeliveries[], { perHost }: ClaimRequest): HostTurns {
  const hosts = new HostTurns(perHost);
  for (const { host, organizationId, underWay } of endpoints)
    hosts.add({ host, owner: organizationId }, underWay);
  return hosts;
}

/** @returns the ids of deliveries whose attempts were interrupted */
async function interruptExpired(
  tx: Transaction<Tables>,
  dialect: Dialect,
  organizations: readonly string[],
  clock: Micros,
): Promise<readonly string[]> {
  if (organizations.length === 0) return [];
  const endpoints = await tx
    .selectFrom('webhook_endpoints')
    .select(['id', 'is_active'])
    .where('organization_id', 'in', organizations)
    .execute();
  if (endpoints.length === 0) return [];
  const lost = tx
    .selectFrom('waiting_deliveries')
    .selectAll()
    .where(
      'endpoint_id',
      'in',
      endpoints.map(({ id }) => id),
    )
    .where('expires_at', '<=', clock)
    .orderBy('delivery_id');
  const rows = (await dialect.lock(lost).execute()).map(toWaiting);
  const active = endpoints.filter(({ is_active }) => is_active === 1).map(({ id }) => id);
  if (rows.length > 0) await interrupt(tx, rows, new Set(active));
  return rows.map(({ deliveryId }) => deliveryId);
}

/** The longest waiting deliveries of an endpoint, as many as it has room for, locked. */
async function readFirst(
  tx: Transaction<Tables>,
  dialect: Dialect,
  endpoint: ReadyDeliveries,
  room: number,
): Promise<readonly WaitingDelivery[]> {
  const query = tx
    .selectFrom('waiting_deliveries')
    .selectAll()
    .where('endpoint_id', '=', endpoint.id)
    .where('ready_at', 'is not', null)
    .orderBy('ready_at')
    .orderBy('delivery_id')
    .limit(room);
  return (await dialect.lock(query).execute()).map(toWaiting);
}

/** A placeholder for waiting deliveries that are not due. */
function laterTurn(endpoint: ReadyDeliveries, now: Micros): readonly Turn[] {
  if (endpoint.first === null) return [];
  // Due deliveries beyond a limit become available when other attempts end, and a sender polls then.
  if (endpoint.first <= now) return [];
  return [{ row: null, due: endpoint.first, delivery: -1, ofEndpoint: endpoint.underWay }];
}

/** When the next delivery of the skipped organizations is due. */
function firstOfOthers(
  others: readonly ReadyDeliveries[],
  request: ClaimRequest,
  hosts: HostTurns,
): readonly Micros[] {
  const underWay = new Map<string, number>();
  for (const { organizationId, underWay: count } of others)
    underWay.set(organizationId, (underWay.get(organizationId) ?? 0) + count);
  return others.flatMap((endpoint) => {
    const isFull = (underWay.get(endpoint.organizationId) ?? 0) >= request.perOrganization;
    if (isFull || endpoint.first === null || roomOf(endpoint, request, hosts) === 0) return [];
    return endpoint.first === 0 ? request.now : endpoint.first;
  });
}

async function take(
  tx: Transaction<Tables>,
  due: readonly WaitingDelivery[],
  { now, expiresAt }: { readonly now: Micros; readonly expiresAt: Micros },
): Promise<readonly DeliveryClaim[]> {
  if (due.length === 0) return [];
  const rows = await tx
    .selectFrom('deliveries')
    .innerJoin('delivery_events', 'delivery_events.id', 'deliveries.event_id')
    .innerJoin('webhook_endpoints', 'webhook_endpoints.id', 'deliveries.endpoint_id')
    .select(['deliveries.id', 'event_id', 'type', 'body', 'endpoint_id', 'url', 'sealed_secret'])
    .where(
      'deliveries.id',
      'in',
      due.map(({ deliveryId }) => deliveryId),
    )
    .where('is_active', '=', 1)
    .execute();
  const known = new Map(rows.map((row) => [row.id, row]));
  // Endpoints paused in the meantime are skipped.
  const taken = due.flatMap((row) => {
    const sent = known.get(row.deliveryId);
    return sent === undefined ? [] : [{ sent, before: row, after: claimed(row.waiting, now) }];
  });
  await saveWaiting(
    tx,
    taken.map(({ before, after }) => ({ ...before, waiting: after, expiresAt })),
  );
  return taken.map(({ sent, before, after }) => ({
    delivery_id: sent.id,
    attempt: after.attempts,
    isManual: after.underWay?.isManual === true,
    step: before.waiting.step,
    event_id: sent.event_id,
    event_type: sent.type,
    body: sent.body,
    endpoint_id: sent.endpoint_id,
    url: sent.url,
    sealed_secret: sent.sealed_secret,
  }));
}
