import { MICROS_PER_MS } from '../../signal/time-units.js';
import type { Micros } from '../../signal/time.js';
import type {
  ClaimName,
  ClaimRequest,
  Claims,
  DeliveryAttempt,
  DeliveryChanges,
  DeliveryDetail,
  DeliveryStats,
  DeliveryFilter,
  DeliveryCursor,
  DeliveryQueue,
  DeliverySummary,
  FinishedAttempt,
  FinishedRules,
  ListedDelivery,
  RetriedDeliveries,
} from '../contracts/deliveries.js';
import type { StoredEvent } from '../contracts/events.js';
import { readWhenThere } from '../shared/read-when-there.js';
import type { ControlDatabase } from './control-database.js';
import { claimDue, leaseClock } from './delivery-claims.js';
import { DeliveryHistory } from './delivery-history.js';
import { takeEvents } from './delivery-intake.js';
import { listDeliveriesAfter, readChanged } from './delivery-list.js';
import { noteResults } from './delivery-results.js';
import { lockedWaiting, retryOne, retrySome } from './delivery-retries.js';

/** The queue of webhook deliveries. */
export class DeliveryRows implements DeliveryQueue {
  readonly #database: ControlDatabase;
  readonly #history: DeliveryHistory;

  constructor(database: ControlDatabase) {
    this.#database = database;
    this.#history = new DeliveryHistory(database);
  }

  async enqueue(events: readonly StoredEvent[], now: Micros): Promise<number> {
    if (events.length === 0) return 0;
    return await this.#database.transaction(async (tx, notify, changed) => {
      const added = await takeEvents(tx, this.#database.dialect, events, now);
      changed(added);
      if (added.length > 0) notify('deliveries');
      return added.length;
    });
  }

  async claim(request: ClaimRequest): Promise<Claims> {
    return await this.#database.transaction(async (tx, _, changed) => {
      const { interrupted, ...claims } = await claimDue(tx, this.#database.dialect, request);
      changed(interrupted);
      return claims;
    });
  }

  async renew(claims: readonly ClaimName[], leaseMs: number): Promise<readonly ClaimName[]> {
    if (claims.length === 0) return [];
    return await this.#database.transaction(async (tx) => {
      const rows = await lockedWaiting(
        tx,
        this.#database.dialect,
        claims.map(({ delivery_id }) => delivery_id),
      );
      const held = claims.filter(({ delivery_id, attempt }) => {
        const waiting = rows.get(delivery_id)?.waiting;
        return waiting?.underWay && waiting.attempts === attempt;
      });
      if (held.length === 0) return [];
      const clock = await leaseClock(tx, this.#database.dialect);
      await tx
        .updateTable('waiting_deliveries')
        .set({ expires_at: clock + leaseMs * MICROS_PER_MS })
        .where(
          'delivery_id',
          'in',
          held.map(({ delivery_id }) => delivery_id),
        )
        .execute();
      return held;
    });
  }

  async finish(results: readonly FinishedAttempt[], rules: FinishedRules): Promise<readonly string[]> {
    if (results.length === 0) return [];
    return await this.#database.transaction(async (tx, notify, changed) => {
      const { ended, paused, hasEvents } = await noteResults(tx, this.#database.dialect, results, rules);
      changed(ended);
      if (paused.length > 0) notify('endpoints');
      if (hasEvents) notify('events');
      return paused;
    });
  }

  async retry(slug: string, deliveryId: string): Promise<boolean> {
    return await retryOne(this.#database, slug, deliveryId);
  }

  async retrySome(
    slug: string,
    wanted: RetriedDeliveries,
  ): Promise<{ readonly queued: number; readonly hasMore: boolean } | 'paused' | null> {
    return await retrySome(this.#database, slug, wanted);
  }

  async follow(
    slug: string,
    filter: DeliveryFilter,
    page: { readonly after: DeliveryCursor | null; readonly limit: number },
  ): Promise<{ readonly items: readonly ListedDelivery[]; readonly next: DeliveryCursor | null }> {
    return await this.#database.read((db) => listDeliveriesAfter(db, slug, filter, page));
  }

  async changes(after: string | null, wait?: AbortSignal): Promise<DeliveryChanges> {
    const { changedDeliveries } = this.#database;
    const position = after === null ? null : Number(after);
    const changes = {
      read: async () => changedDeliveries.since(position),
      isEmpty: ({ ids, lost }: ReturnType<typeof changedDeliveries.since>) => ids.length === 0 && lost === 0,
      watch: (listener: () => void) => changedDeliveries.watch(listener),
    };
    const { ids, next, lost } = await readWhenThere(changes, position === null ? undefined : wait);
    const deliveries = await this.#database.read((db) => readChanged(db, ids));
    return { deliveries, next: String(next), lost };
  }

  async list(
    slug: string,
    endpointId: string,
    page: { readonly offset: number; readonly limit: number },
  ): Promise<{ readonly items: readonly DeliverySummary[]; readonly count: number } | null> {
    return await this.#history.list(slug, endpointId, page);
  }

  async read(slug: string, deliveryId: string): Promise<DeliveryDetail | null> {
    return await this.#history.read(slug, deliveryId);
  }

  async readAttempts(
    slug: string,
    deliveryId: string,
    after: number,
  ): Promise<readonly DeliveryAttempt[] | null> {
    return await this.#history.readAttempts(slug, deliveryId, after);
  }

  async removeBefore(time: Micros): Promise<number> {
    for (let removed = 0; ;) {
      const some = await this.#history.removeSome(time);
      if (some === 0) return removed;
      removed += some;
    }
  }

  async stats(now: Micros): Promise<DeliveryStats> {
    const [all, overdue] = await this.#database.read(async (db) => [
      await db
        .selectFrom('waiting_deliveries')
        .select((row) => row.fn.countAll<number>().as('pending'))
        .executeTakeFirstOrThrow(),
      await db
        .selectFrom('waiting_deliveries')
        .innerJoin('webhook_endpoints', 'webhook_endpoints.id', 'endpoint_id')
        .select((row) => row.fn.min('due_at').as('oldest'))
        .where('is_active', '=', 1)
        .where('attempted_at', 'is', null)
        .executeTakeFirst(),
    ]);
    return {
      pending: all.pending,
      overdueMs: Math.max(0, (now - (overdue?.oldest ?? now)) / MICROS_PER_MS),
    };
  }
}
