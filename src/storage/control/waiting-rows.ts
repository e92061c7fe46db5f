import { sql, type Transaction } from 'kysely';
import { MICROS_PER_MS } from '../../signal/time-units.js';
import type { Micros } from '../../signal/time.js';
import { interrupted, isAtRest, type Waiting } from './delivery-state.js';
import { MAX_HELD_MS, RESUME_SPREAD_MS } from '../contracts/deliveries.js';
import type { Tables } from './tables.js';

/** Each takes ten of SQLite's 32,766 parameters per statement. */
const ROWS_A_STATEMENT = 1000;

/** A delivery that is not finished. */
export interface WaitingDelivery {
  readonly deliveryId: string;
  readonly endpointId: string;
  readonly waiting: Waiting;
  /** When the lease of the running attempt expires; null if none is running. */
  readonly expiresAt: Micros | null;
}

export function toWaiting(row: Tables['waiting_deliveries']): WaitingDelivery {
  const { delivery_id, endpoint_id, due_at, step, manual, attempts, attempted_at, is_manual } = row;
  const underWay = attempted_at === null ? null : { attemptedAt: attempted_at, isManual: is_manual === 1 };
  return {
    deliveryId: delivery_id,
    endpointId: endpoint_id,
    waiting: { dueAt: due_at, step, manual, attempts, underWay },
    expiresAt: row.expires_at,
  };
}

function fromWaiting({ deliveryId, endpointId, waiting, expiresAt }: WaitingDelivery) {
  const { dueAt, step, manual, attempts, underWay } = waiting;
  const next = manual > 0 ? 0 : dueAt;
  return {
    delivery_id: deliveryId,
    endpoint_id: endpointId,
    due_at: dueAt,
    step,
    manual,
    attempts,
    attempted_at: underWay?.attemptedAt ?? null,
    is_manual: Number(underWay?.isManual ?? false),
    expires_at: underWay === null ? null : expiresAt,
    ready_at: underWay === null ? next : null,
  };
}

/** Saves the state of deliveries; those without remaining work have no row. Their rows must be locked. */
export async function saveWaiting(tx: Transaction<Tables>, all: readonly WaitingDelivery[]): Promise<void> {
  for (let start = 0; start < all.length; start += ROWS_A_STATEMENT) {
    const part = all.slice(start, start + ROWS_A_STATEMENT);
    const atRest = part.filter(({ waiting }) => isAtRest(waiting)).map(({ deliveryId }) => deliveryId);
    if (atRest.length > 0)
      await tx.deleteFrom('waiting_deliveries').where('delivery_id', 'in', atRest).execute();
    const rows = part.filter(({ waiting }) => !isAtRest(waiting)).map(fromWaiting);
    if (rows.length === 0) continue;
    await tx
      .insertInto('waiting_deliveries')
      .values(rows)
      .onConflict((conflict) =>
        conflict.column('delivery_id').doUpdateSet((row) => ({
          due_at: row.ref('excluded.due_at'),
          step: row.ref('excluded.step'),
          manual: row.ref('excluded.manual'),
          attempts: row.ref('excluded.attempts'),
          attempted_at: row.ref('excluded.attempted_at'),
          is_manual: row.ref('excluded.is_manual'),
          expires_at: row.ref('excluded.expires_at'),
          ready_at: row.ref('excluded.ready_at'),
        })),
      )
      .execute();
  }
}

/** Saves finished attempts. */
export async function addAttempts(
  tx: Transaction<Tables>,
  attempts: readonly Tables['delivery_attempts'][],
): Promise<void> {
  for (let start = 0; start < attempts.length; start += ROWS_A_STATEMENT)
    await tx
      .insertInto('delivery_attempts')
      .values(attempts.slice(start, start + ROWS_A_STATEMENT))
      .execute();
}

/** Interrupts running attempts whose rows are locked. @param active ids of their active endpoints */
export async function interrupt(
  tx: Transaction<Tables>,
  lost: readonly WaitingDelivery[],
  active: ReadonlySet<string>,
): Promise<void> {
  await addAttempts(
    tx,
    lost.flatMap(({ deliveryId, waiting }) =>
      waiting.underWay === null
        ? []
        : {
            delivery_id: deliveryId,
            attempt_number: waiting.attempts,
            attempted_at: waiting.underWay.attemptedAt,
            succeeded: 0,
            http_status_code: null,
            response_body: '',
            duration_ms: null,
            error_message: 'interrupted by restart',
          },
    ),
  );
  await saveWaiting(
    tx,
    lost.map((row) => ({ ...row, waiting: interrupted(row.waiting, active.has(row.endpointId)) })),
  );
}

/** Drops manually requested attempts when an endpoint is paused; scheduled attempts are held. */
export async function forgetManual(tx: Transaction<Tables>, endpointId: string): Promise<void> {
  await tx
    .deleteFrom('waiting_deliveries')
    .where('endpoint_id', '=', endpointId)
    .where('due_at', 'is', null)
    .where('attempted_at', 'is', null)
    .execute();
  await tx
    .updateTable('waiting_deliveries')
    .set({ manual: 0, ready_at: sql`case when attempted_at is null then due_at end` })
    .where('endpoint_id', '=', endpointId)
    .where('manual', '>', 0)
    .execute();
}

/**
 * Resumes held deliveries: those that waited too long are given up, and those due soon are spread, so that a receiver that recovers does
 * not get all at once. Running attempts continue.
 */
export async function resumeHeld(tx: Transaction<Tables>, endpointId: string, now: Micros): Promise<void> {
  await tx
    .deleteFrom('waiting_deliveries')
    .where('endpoint_id', '=', endpointId)
    .where('ready_at', 'is not', null)
    .where('delivery_id', 'in', (row) =>
      row
        .selectFrom('deliveries')
        .select('id')
        .where('endpoint_id', '=', endpointId)
        .where('created_at', '<', now - MAX_HELD_MS * MICROS_PER_MS),
    )
    .execute();
  const spread = RESUME_SPREAD_MS * MICROS_PER_MS;
  await sql`update waiting_deliveries set due_at = soon.at, ready_at = soon.at from (
      select id, case when due > turn then due else turn end as at from (
        select delivery_id as id, due_at as due,
          ${sql.lit(now)} + (row_number() over (order by due_at, delivery_id) - 1) * ${sql.lit(spread)} / count(*) over () as turn
        from waiting_deliveries
        where endpoint_id = ${endpointId} and ready_at < ${now + spread}
      ) as turns
    ) as soon where delivery_id = soon.id`.execute(tx);
}

/** Removes all deliveries of an endpoint. */
export async function removeOfEndpoint(tx: Transaction<Tables>, endpointId: string): Promise<void> {
  await tx.deleteFrom('waiting_deliveries').where('endpoint_id', '=', endpointId).execute();
  await tx
    .deleteFrom('delivery_attempts')
    .where('delivery_id', 'in', (row) =>
      row.selectFrom('deliveries').select('id').where('endpoint_id', '=', endpointId),
    )
    .execute();
  await tx.deleteFrom('deliveries').where('endpoint_id', '=', endpointId).execute();
}
