import type { Micros } from '../../../signal/time.js';
import type { ClaimRequest, HeldClaim } from '../../delivery-store.js';
import type { Row, Value } from '../connection.js';
import type { EventInterests } from '../events/interests.js';
import type { WaitingRow } from './delivery-rows.js';

/** A delivery that waits for an active endpoint. */
export interface Candidate {
  /** 0 where somebody asked for it. */
  readonly due: Micros;
  readonly delivery: number;
  readonly event: number;
  /** Attempts to the endpoint that are under way by the time that it is this one's turn. */
  readonly ofEndpoint: number;
}

/** What waits for an endpoint, and what is under way to it. */
export interface EndpointQueue {
  readonly organizationId: string;
  readonly underWay: readonly HeldClaim[];
  /** The first by time, as many as the endpoint has room for. */
  readonly candidates: readonly Candidate[];
}

/** What is taken, and when there is more. */
export interface Turns {
  readonly taken: readonly Candidate[];
  readonly nextDueAt: Micros | null;
}

/** Limits of a claim. */
type Limits = Pick<ClaimRequest, 'limit' | 'perEndpoint' | 'perOrganization'>;

/** The time by which a waiting row is taken, as SQL. */
const DUE = '(CASE WHEN manual > 0 THEN 0 ELSE epoch_us(due_at) END)';

/** One row for each endpoint to which something is under way, or may be. */
export function endpointQueues(perEndpoint: number): string {
  const count = BigInt(perEndpoint);
  const waiting = (what: string): string => `to_json(${what} FILTER (attempted_at IS NULL))::VARCHAR`;
  return `SELECT under_way, dues, deliveries, e.organization_id::VARCHAR AS organization_id, e.is_active FROM (
      SELECT endpoint_id, to_json(list({delivery: delivery, lease: attempts}) FILTER (attempted_at IS NOT NULL))::VARCHAR AS under_way,
        ${waiting(`min(${DUE}, ${count})`)} AS dues, ${waiting(`min_by({delivery: delivery, event: event}, ${DUE}, ${count})`)} AS deliveries
      FROM waiting_deliveries WHERE attempted_at IS NOT NULL OR endpoint_id IN (SELECT id FROM webhook_endpoints WHERE is_active)
      GROUP BY endpoint_id) q
    JOIN webhook_endpoints e ON e.id = q.endpoint_id`;
}

/** @param row of {@link endpointQueues} */
export function toEndpointQueue(row: Row, perEndpoint: number): EndpointQueue {
  const dues = listed(row.dues) as readonly Micros[];
  const deliveries = listed(row.deliveries) as readonly Pick<Candidate, 'delivery' | 'event'>[];
  return endpointQueue(
    {
      organizationId: String(row.organization_id),
      isActive: row.is_active === true,
      underWay: listed(row.under_way) as readonly HeldClaim[],
      first: deliveries.map((ids, place) => ({ ...ids, due: dues[place] ?? 0 })),
    },
    perEndpoint,
  );
}

/** The same of rows that are known. */
export function queuesOf(
  rows: Iterable<WaitingRow>,
  interests: Pick<EventInterests, 'subscription'>,
  perEndpoint: number,
): readonly EndpointQueue[] {
  const byEndpoint = new Map<string, WaitingRow[]>();
  for (const row of rows) {
    const ofOne = byEndpoint.get(row.endpointId);
    if (ofOne) ofOne.push(row);
    else byEndpoint.set(row.endpointId, [row]);
  }
  return [...byEndpoint].flatMap(([endpointId, ofOne]) => {
    const endpoint = interests.subscription(endpointId);
    if (endpoint === undefined) return [];
    const underWay = ofOne.filter(({ waiting }) => waiting.underWay !== null);
    const first = ofOne
      .filter(({ waiting }) => waiting.underWay === null)
      .map(({ delivery, event, waiting }) => ({
        delivery,
        event,
        due: waiting.manual > 0 ? 0 : (waiting.dueAt ?? 0),
      }))
      .sort((a, b) => a.due - b.due || a.delivery - b.delivery);
    const claims = underWay.map(({ delivery, waiting }) => ({ delivery, lease: waiting.attempts }));
    return endpointQueue({ ...endpoint, underWay: claims, first }, perEndpoint);
  });
}

/** @param first what waits longest, sorted; as many as there may be room for, or more */
function endpointQueue(
  {
    organizationId,
    isActive,
    underWay,
    first,
  }: {
    readonly organizationId: string;
    readonly isActive: boolean;
    readonly underWay: readonly HeldClaim[];
    readonly first: readonly Omit<Candidate, 'ofEndpoint'>[];
  },
  perEndpoint: number,
): EndpointQueue {
  const room = isActive ? Math.max(0, perEndpoint - underWay.length) : 0;
  const candidates = first
    .slice(0, room)
    .map((candidate, place) => ({ ...candidate, ofEndpoint: underWay.length + place }));
  return { organizationId, underWay, candidates };
}

/**
 * Who is next: organizations take turns, so that none holds up another with many endpoints that hang, and so do the endpoints
 * of each, so that none holds up another with much to do.
 */
export function takeTurns(queues: readonly EndpointQueue[], now: Micros, limits: Limits): Turns {
  const organizations = byOrganization(queues).map((ofOne) => {
    const underWay = ofOne.reduce((sum, queue) => sum + queue.underWay.length, 0);
    const candidates = ofOne.flatMap((queue) => queue.candidates);
    const due = candidates.filter((candidate) => candidate.due <= now).sort(inTurns);
    return { underWay, candidates, due, room: Math.max(0, limits.perOrganization - underWay) };
  });
  const taken = new Set(
    organizations
      .flatMap(({ underWay, due, room }) =>
        due.slice(0, room).map((candidate, place) => ({ candidate, before: underWay + place })),
      )
      .sort((a, b) => a.before - b.before || inTurns(a.candidate, b.candidate))
      .slice(0, limits.limit)
      .map(({ candidate }) => candidate),
  );
  const rest = organizations.flatMap(({ candidates, room }) => {
    const left = candidates.filter((candidate) => !taken.has(candidate));
    return candidates.length - left.length < room ? left : [];
  });
  return { taken: [...taken], nextDueAt: earliest(rest.map(({ due }) => due || now)) };
}

function byOrganization(queues: readonly EndpointQueue[]): readonly (readonly EndpointQueue[])[] {
  const found = new Map<string, EndpointQueue[]>();
  for (const queue of queues) {
    const ofOne = found.get(queue.organizationId);
    if (ofOne) ofOne.push(queue);
    else found.set(queue.organizationId, [queue]);
  }
  return [...found.values()];
}

function inTurns(a: Candidate, b: Candidate): number {
  return a.ofEndpoint - b.ofEndpoint || a.due - b.due || a.delivery - b.delivery;
}

function listed(list: Value | undefined): readonly unknown[] {
  return typeof list === 'string' ? (JSON.parse(list) as unknown[]) : [];
}

function earliest(times: readonly Micros[]): Micros | null {
  return times.length === 0 ? null : times.reduce((one, other) => Math.min(one, other));
}
