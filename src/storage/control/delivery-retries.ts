import type { Transaction } from 'kysely';
import type { RetriedDeliveries } from '../contracts/deliveries.js';
import { asked, atRest } from './delivery-state.js';
import type { ControlDatabase } from './control-database.js';
import { ofOrganization } from './delivery-history.js';
import type { Dialect } from './dialect.js';
import type { Tables } from './tables.js';
import { saveWaiting, toWaiting, type WaitingDelivery } from './waiting-rows.js';

/** Number of deliveries per transaction, so that other writers can run in between. */
const RETRIED_AT_ONCE = 500;

/** Implements `DeliveryQueue.retry`. */
export async function retryOne(
  database: ControlDatabase,
  slug: string,
  deliveryId: string,
): Promise<boolean> {
  const { dialect } = database;
  return await database.transaction(async (tx, notify, changed) => {
    const found = await ofOrganization(tx, slug, deliveryId).executeTakeFirst();
    if (found === undefined) return false;
    const { id, endpoint_id } = found;
    // Both may have been deleted; otherwise they are locked until the end of this transaction.
    const endpoint = await lockEndpoint(tx, dialect, endpoint_id);
    const delivery = tx.selectFrom('deliveries').select('id').where('id', '=', id);
    if (!endpoint || !(await dialect.lock(delivery).executeTakeFirst())) return false;
    if (endpoint.is_active === 0) return true;
    await ask(tx, dialect, endpoint_id, [id]);
    changed([id]);
    notify('deliveries');
    return true;
  });
}

/** Implements `DeliveryQueue.retrySome`. */
export async function retrySome(
  database: ControlDatabase,
  slug: string,
  { endpointId, status, since, limit }: RetriedDeliveries,
): Promise<{ readonly queued: number; readonly hasMore: boolean } | 'paused' | null> {
  const { dialect } = database;
  let queued = 0;
  for (;;) {
    const size = Math.min(RETRIED_AT_ONCE, limit - queued);
    const some = await database.transaction(async (tx, notify, changed) => {
      const known = await tx
        .selectFrom('webhook_endpoints as e')
        .innerJoin('organizations as o', 'o.id', 'e.organization_id')
        .select('e.id')
        .where('e.id', '=', endpointId.toLowerCase())
        .where('o.slug', '=', slug)
        .executeTakeFirst();
      const endpoint = known && (await lockEndpoint(tx, dialect, known.id));
      if (!known || !endpoint) return null;
      if (endpoint.is_active === 0) return 'paused';
      const found = await oldest(tx, dialect, { endpointId: known.id, status, since, limit: size + 1 });
      const ids = found.slice(0, size);
      if (ids.length > 0) {
        await ask(tx, dialect, known.id, ids);
        changed(ids);
        notify('deliveries');
      }
      return { queued: ids.length, hasMore: found.length > size };
    });
    if (some === null || some === 'paused') return queued > 0 ? { queued, hasMore: true } : some;
    queued += some.queued;
    if (!some.hasMore || queued >= limit) return { queued, hasMore: some.hasMore };
  }
}

/** Deliveries that have failed, or wait for the schedule, without a requested attempt; locked. */
async function oldest(
  tx: Transaction<Tables>,
  dialect: Dialect,
  { endpointId, status, since, limit }: RetriedDeliveries,
): Promise<readonly string[]> {
  const query = tx
    .selectFrom('deliveries as d')
    .select('d.id')
    .where('d.endpoint_id', '=', endpointId)
    .where('d.created_at', '>=', since)
    .where('d.succeeded', '=', 0)
    .where((row) => {
      const waiting = row
        .selectFrom('waiting_deliveries as w')
        .select('w.delivery_id')
        .whereRef('w.delivery_id', '=', 'd.id');
      return status === 'failed'
        ? row.not(row.exists(waiting))
        : row.exists(waiting.where('w.manual', '=', 0).where('w.attempted_at', 'is', null));
    })
    .orderBy('d.created_at')
    .orderBy('d.id')
    .limit(limit);
  return (await dialect.lock(query).execute()).map(({ id }) => id);
}

async function lockEndpoint(tx: Transaction<Tables>, dialect: Dialect, id: string) {
  const endpoint = tx.selectFrom('webhook_endpoints').select('is_active').where('id', '=', id);
  return await dialect.lock(endpoint).executeTakeFirst();
}

/** @param ids of deliveries to one endpoint, both locked */
async function ask(
  tx: Transaction<Tables>,
  dialect: Dialect,
  endpointId: string,
  ids: readonly string[],
): Promise<void> {
  const waiting = await lockedWaiting(tx, dialect, ids);
  const ended = await endedAttempts(
    tx,
    ids.filter((id) => !waiting.has(id)),
  );
  const rows = ids.map((id): WaitingDelivery => {
    const row = waiting.get(id) ?? {
      deliveryId: id,
      endpointId,
      waiting: atRest(ended.get(id) ?? 0),
      expiresAt: null,
    };
    return { ...row, waiting: asked(row.waiting) };
  });
  await saveWaiting(tx, rows);
}

/** The waiting rows of deliveries, locked. */
export async function lockedWaiting(
  tx: Transaction<Tables>,
  dialect: Dialect,
  ids: readonly string[],
): Promise<ReadonlyMap<string, WaitingDelivery>> {
  const query = tx
    .selectFrom('waiting_deliveries')
    .selectAll()
    .where('delivery_id', 'in', ids)
    .orderBy('delivery_id');
  return new Map((await dialect.lock(query).execute()).map((row) => [row.delivery_id, toWaiting(row)]));
}

/** Number of finished attempts of deliveries. */
async function endedAttempts(
  tx: Transaction<Tables>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (ids.length === 0) return new Map();
  const rows = await tx
    .selectFrom('delivery_attempts')
    .select((row) => ['delivery_id', row.fn.countAll<number>().as('ended')])
    .where('delivery_id', 'in', ids)
    .groupBy('delivery_id')
    .execute();
  return new Map(rows.map(({ delivery_id, ended }) => [delivery_id, ended]));
}
