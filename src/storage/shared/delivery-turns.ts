import { invariant } from '../../signal/checked.js';
import type { Micros } from '../../signal/time.js';
import type { ClaimRequest } from '../contracts/deliveries.js';
import type { HostTurns } from './host-turns.js';

/** A delivery waiting for an active endpoint. */
export interface WaitingTurn {
  /** When it is due; 0 for a manual retry. */
  readonly due: Micros;
  /** A unique number; deliveries due at the same time are taken in this order. */
  readonly delivery: number;
  /** Number of attempts to the endpoint that run when this one starts. */
  readonly ofEndpoint: number;
}

/** Waiting deliveries and running attempts of an endpoint. */
export interface EndpointTurns<Turn extends WaitingTurn> {
  readonly organizationId: string;
  readonly host: string | undefined;
  readonly underWay: { readonly length: number };
  /** The first by time, as many as the endpoint has room for. */
  readonly candidates: readonly Turn[];
}

/** The deliveries taken, and when more become available. */
export interface TakenTurns<Turn extends WaitingTurn> {
  readonly taken: readonly Turn[];
  readonly nextDueAt: Micros | null;
}

/**
 * Selects the next deliveries. Organizations, and the endpoints of each, share fairly: many hanging endpoints or a long backlog do not
 * block others.
 *
 * @param hosts with their running attempts
 */
export function takeTurns<Turn extends WaitingTurn>(
  queues: readonly EndpointTurns<Turn>[],
  now: Micros,
  limits: Pick<ClaimRequest, 'limit' | 'perOrganization'>,
  hosts: HostTurns,
): TakenTurns<Turn> {
  const placeOf = new Map(
    queues.flatMap(({ candidates, host, organizationId: owner }) =>
      candidates.map((candidate) => [candidate, { candidate, host, owner }]),
    ),
  );
  const organizations = byOrganization(queues).map((ofOne) => {
    const underWay = ofOne.reduce((sum, queue) => sum + queue.underWay.length, 0);
    const candidates = ofOne.flatMap((queue) => queue.candidates);
    const due = candidates.filter((candidate) => candidate.due <= now).sort(withTurns);
    return { underWay, candidates, due, room: Math.max(0, limits.perOrganization - underWay) };
  });
  const places = organizations.flatMap(({ due, room }) =>
    room === 0 ? [] : due.map((candidate) => invariant(placeOf.get(candidate), 'place of a turn')),
  );
  const hosted = new Set([...hosts.withinRoom(places)].map(({ candidate }) => candidate));
  const taken = new Set(
    organizations
      .flatMap(({ underWay, due, room }) =>
        due
          .filter((candidate) => hosted.has(candidate))
          .slice(0, room)
          .map((candidate, place) => ({ candidate, before: underWay + place })),
      )
      .sort((a, b) => a.before - b.before || withTurns(a.candidate, b.candidate))
      .slice(0, limits.limit)
      .map(({ candidate }) => candidate),
  );
  for (const candidate of taken) hosts.add(invariant(placeOf.get(candidate), 'place of a turn'), 1);
  const rest = organizations.flatMap(({ candidates, room }) => {
    const left = candidates.filter((candidate) => !taken.has(candidate));
    return candidates.length - left.length < room
      ? left.filter((candidate) => hosts.roomOf(placeOf.get(candidate)?.host) > 0)
      : [];
  });
  return { taken: [...taken], nextDueAt: earliest(rest.map(({ due }) => due || now)) };
}

function byOrganization<Queue extends { readonly organizationId: string }>(
  queues: readonly Queue[],
): readonly (readonly Queue[])[] {
  const found = new Map<string, Queue[]>();
  for (const queue of queues) {
    const ofOne = found.get(queue.organizationId);
    if (ofOne) ofOne.push(queue);
    else found.set(queue.organizationId, [queue]);
  }
  return [...found.values()];
}

function withTurns(a: WaitingTurn, b: WaitingTurn): number {
  return a.ofEndpoint - b.ofEndpoint || a.due - b.due || a.delivery - b.delivery;
}

/** The earliest time; null if there are none. */
export function earliest(times: readonly Micros[]): Micros | null {
  return times.length === 0 ? null : times.reduce((one, other) => Math.min(one, other));
}
