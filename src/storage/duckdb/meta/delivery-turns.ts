import type { Micros } from '../../../signal/time.js';
import type { HeldClaim } from '../../delivery-store.js';
import type { EndpointTurns, WaitingTurn } from '../../delivery-turns.js';
import type { Row, Value } from '../connection.js';
import type { EventInterests } from '../events/interests.js';
import type { WaitingRow } from './delivery-rows.js';

/** A delivery that waits for an active endpoint. */
export interface Candidate extends WaitingTurn {
  readonly event: number;
}

/** What waits for an endpoint, and what is under way to it. */
export interface EndpointQueue extends EndpointTurns<Candidate> {
  readonly underWay: readonly HeldClaim[];
}

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

function listed(list: Value | undefined): readonly unknown[] {
  return typeof list === 'string' ? (JSON.parse(list) as unknown[]) : [];
}
