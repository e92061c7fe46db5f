import type { Micros } from '../../../signal/time.js';
import type { ClaimRequest, Claims, DeliveryClaim } from '../../delivery-store.js';
import { WAITING } from './delivery-definitions.js';
import type { DeliveryQueue } from './delivery-queue.js';
import { listOf, toWaitingRow } from './delivery-rows.js';
import { claimed } from './delivery-state.js';
import {
  endpointQueues,
  takeTurns,
  toEndpointQueue,
  type Candidate,
  type EndpointQueue,
} from './delivery-turns.js';
import type { MetaConnection } from './meta-connection.js';
import { byRanges } from './number-ranges.js';

/** Takes on what is due. */
export class DeliveryClaims {
  readonly #connection: MetaConnection;
  readonly #queue: DeliveryQueue;

  constructor(connection: MetaConnection, queue: DeliveryQueue) {
    this.#connection = connection;
    this.#queue = queue;
  }

  async claim(request: ClaimRequest): Promise<Claims> {
    return await this.#connection.shared(async () => {
      const queues = await this.#held(request);
      const { taken, nextDueAt } = takeTurns(queues, request.now, request);
      return { claims: taken.length === 0 ? [] : await this.#take(taken, request.now), nextDueAt };
    });
  }

  /** What waits, once what nobody holds is interrupted. */
  async #held({ held, perEndpoint }: ClaimRequest): Promise<readonly EndpointQueue[]> {
    const leases = new Set(held.map(({ delivery, lease }) => `${delivery} ${lease}`));
    const queues = await this.#read(perEndpoint);
    const lost = queues
      .flatMap(({ underWay }) => underWay)
      .filter(({ delivery, lease }) => !leases.has(`${delivery} ${lease}`));
    if (lost.length === 0) return queues;
    const those = listOf(lost.map(({ delivery }) => delivery));
    await this.#queue.interrupt(`delivery IN (${those})`, 'interrupted: nobody is making it');
    return await this.#read(perEndpoint);
  }

  async #read(perEndpoint: number): Promise<readonly EndpointQueue[]> {
    const rows = await this.#connection.rows(endpointQueues(perEndpoint));
    return rows.map((row) => toEndpointQueue(row, perEndpoint));
  }

  async #take(due: readonly Candidate[], now: Micros): Promise<readonly DeliveryClaim[]> {
    const rows = await this.#connection.rows(claimedRows(due));
    const taken = new Map(
      rows.map((row) => {
        const before = toWaitingRow(row);
        const changed = { ...before, waiting: claimed(before.waiting, now) };
        return [before.delivery, { row, changed }];
      }),
    );
    await this.#queue.save([...taken.values()].map(({ changed }) => changed));
    return due.flatMap(({ delivery }) => {
      const found = taken.get(delivery);
      if (found === undefined) return [];
      const { row, changed } = found;
      return {
        delivery,
        lease: changed.waiting.attempts,
        delivery_id: changed.id,
        attempt: changed.waiting.attempts,
        isManual: changed.waiting.underWay?.isManual === true,
        step: changed.waiting.step,
        event_id: String(row.event_id),
        event_type: String(row.type),
        body: String(row.body),
        endpoint_id: changed.endpointId,
        url: String(row.url),
        sealed_secret: String(row.sealed_secret),
      };
    });
  }
}

/** What claims say. */
function claimedRows(due: readonly Candidate[]): string {
  const events = byRanges(
    due.map(({ event }) => event),
    (condition) => `SELECT number, id, type, body FROM taken_events WHERE ${condition}`,
  );
  return `SELECT w.*, t.id::VARCHAR AS event_id, t.type, t.body, e.url, e.sealed_secret
    FROM (${WAITING.select(`WHERE delivery IN (${listOf(due.map(({ delivery }) => delivery))})`)}) w
    JOIN (${events}) t ON t.number = w.event
    JOIN webhook_endpoints e ON e.id = w.endpoint_id::UUID`;
}
