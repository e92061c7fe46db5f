import type { Micros } from '../../../signal/time.js';
import type { ClaimRequest, Claims, DeliveryClaim } from '../../delivery-store.js';
import type { Row, Value } from '../database.js';
import type { DeliveryQueue } from './delivery-queue.js';
import { WAITING } from './delivery-definitions.js';
import { listOf, numberOrNull, toWaitingRow } from './delivery-rows.js';
import { claimed } from './delivery-state.js';
import type { MetaConnection } from './meta-connection.js';

/** What waits for active endpoints. */
interface Found {
  /** In the order in which they are taken. */
  readonly candidates: readonly Candidate[];
  /** When the first claim ends that somebody holds; null: nobody holds one. */
  readonly firstEnd: Micros | null;
}

/** A delivery that nobody has claimed, of an active endpoint. */
interface Candidate {
  /** 0 where somebody asked for it. */
  readonly due: Micros;
  readonly delivery: number;
  /** Attempts to the endpoint that are under way by the time that it is this one's turn. */
  readonly before: number;
}

/** What a claim says. NUMBERS stands for the deliveries. */
const CLAIMED = `SELECT w.*, t.id::VARCHAR AS event_id, t.type, t.body, e.url, e.sealed_secret
  FROM (${WAITING.select('WHERE delivery IN (NUMBERS)')}) w
  JOIN taken_events t ON t.number = w.event
  JOIN webhook_endpoints e ON e.id = w.endpoint_id::UUID`;

/** Takes on what is due. */
export class DeliveryClaims {
  readonly #connection: MetaConnection;
  readonly #queue: DeliveryQueue;
  /** No claim ends before. */
  #firstEnd = Infinity;

  constructor(connection: MetaConnection, queue: DeliveryQueue) {
    this.#connection = connection;
    this.#queue = queue;
  }

  async claim(request: ClaimRequest): Promise<Claims> {
    return await this.#connection.shared(async () => {
      await this.#endClaims(request.now);
      const { candidates, firstEnd } = await this.#find(request.perEndpoint);
      const due = candidates.filter(({ due }) => due <= request.now).slice(0, request.limit);
      const claims = due.length === 0 ? [] : await this.#take(due, request);
      const taken = new Set(due);
      const rest = candidates.filter((candidate) => !taken.has(candidate));
      const dues = rest.map(({ due }) => due || request.now);
      // A claim holds until its end, and still then.
      if (firstEnd !== null) dues.push(firstEnd + 1);
      if (claims.length > 0) dues.push(request.leaseUntil + 1);
      return { claims, nextDueAt: earliest(dues) };
    });
  }

  /** Gives up claims that nobody kept. */
  async #endClaims(now: Micros): Promise<void> {
    if (now <= this.#firstEnd) return;
    await this.#queue.interrupt(
      `lease_until < make_timestamp(${BigInt(now)})`,
      'interrupted: its sender did not report in time',
    );
    const [row] = await this.#connection.rows(
      'SELECT min(epoch_us(lease_until)) AS first FROM waiting_deliveries',
    );
    this.#connection.afterCommit(() => {
      this.#firstEnd = numberOrNull(row?.first) ?? Infinity;
    });
  }

  /**
   * The first of each active endpoint that has room, as many as it has room for, in the order in which they are taken: what
   * is the first attempt under way to an endpoint before what is the second, so that endpoints with much to do do not hold
   * up others; and then what is overdue the longest.
   */
  async #find(perEndpoint: number): Promise<Found> {
    const due = '(CASE WHEN manual > 0 THEN 0 ELSE epoch_us(due_at) END)';
    const first = (what: string): string => `to_json(${what} FILTER (lease_until IS NULL))::VARCHAR`;
    const count = BigInt(perEndpoint);
    const rows = await this.#connection.rows(
      `SELECT count(lease_until) AS under_way, min(epoch_us(lease_until)) AS first_end, ${first(`min(${due}, ${count})`)} AS dues, ${first(`min_by(delivery, ${due}, ${count})`)} AS deliveries
       FROM waiting_deliveries WHERE endpoint_id IN (SELECT id FROM webhook_endpoints WHERE is_active) GROUP BY endpoint_id`,
    );
    const candidates = rows
      .flatMap((row) => candidatesOf(row, perEndpoint))
      .sort((a, b) => a.before - b.before || a.due - b.due || a.delivery - b.delivery);
    return { candidates, firstEnd: earliest(rows.flatMap((row) => numberOrNull(row.first_end) ?? [])) };
  }

  async #take(
    due: readonly Candidate[],
    { now, leaseUntil }: ClaimRequest,
  ): Promise<readonly DeliveryClaim[]> {
    const numbers = listOf(due.map(({ delivery }) => delivery));
    const rows = await this.#connection.rows(CLAIMED.replaceAll('NUMBERS', numbers));
    const taken = new Map(
      rows.map((row) => {
        const before = toWaitingRow(row);
        const changed = { ...before, waiting: claimed(before.waiting, now, leaseUntil) };
        return [before.delivery, { row, changed }];
      }),
    );
    await this.#queue.save([...taken.values()].map(({ changed }) => changed));
    this.#connection.afterCommit(() => {
      this.#firstEnd = Math.min(this.#firstEnd, leaseUntil);
    });
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

function candidatesOf(row: Row, perEndpoint: number): readonly Candidate[] {
  const underWay = Number(row.under_way);
  const dues = numbersOf(row.dues);
  return numbersOf(row.deliveries)
    .slice(0, Math.max(0, perEndpoint - underWay))
    .map((delivery, place) => ({ due: dues[place] ?? 0, delivery, before: underWay + place }));
}

function numbersOf(list: Value | undefined): readonly number[] {
  return typeof list === 'string' ? (JSON.parse(list) as number[]) : [];
}

function earliest(times: readonly Micros[]): Micros | null {
  return times.length === 0 ? null : times.reduce((one, other) => Math.min(one, other));
}
