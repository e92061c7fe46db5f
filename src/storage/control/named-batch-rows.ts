import type { Transaction } from 'kysely';
import { sql } from 'kysely';
import type { BatchStanding, NamedBatch, OpenWrite } from '../contracts/coordination.js';
import type { Dialect } from './dialect.js';
import type { Tables } from './tables.js';

type Tx = Transaction<Tables>;

/** Records that a batch will be written, or returns why it need not be. Locks its row until the end of the transaction. */
export async function claimBatch(
  tx: Tx,
  dialect: Dialect,
  store: string,
  { tenant, name }: NamedBatch,
): Promise<BatchStanding> {
  const made = await tx
    .insertInto('named_batches')
    .values({
      ...{ store, tenant, name, noted_at: dialect.now() },
      ...{ write_number: null, written_at: null, refused: '' },
    })
    // Waits if another transaction is recording the same batch.
    .onConflict((conflict) => conflict.columns(['store', 'tenant', 'name']).doNothing())
    .returning('name')
    .executeTakeFirst();
  if (made !== undefined) return { as: 'new', refused: [] };
  const known = await dialect
    .lock(
      tx
        .selectFrom('named_batches')
        .select(['write_number', 'written_at', 'refused'])
        .where('store', '=', store)
        .where('tenant', '=', tenant)
        .where('name', '=', name),
    )
    .executeTakeFirst();
  if (known === undefined) return await claimBatch(tx, dialect, store, { tenant, name });
  if (known.written_at !== null) return { as: 'written', refused: positionsIn(known.refused) };
  const underWay = await tx
    .selectFrom('writes')
    .select('number')
    .where('number', '=', known.write_number)
    .where('ended_at', 'is', null)
    .where('expires_at', '>', dialect.now())
    .executeTakeFirst();
  return { as: underWay === undefined ? 'begun' : 'under_way', refused: [] };
}

/** Records which write a batch belongs to. */
export async function bindBatch(
  tx: Tx,
  store: string,
  { tenant, name }: NamedBatch,
  write: number,
): Promise<void> {
  await tx
    .updateTable('named_batches')
    .set({ write_number: write })
    .where('store', '=', store)
    .where('tenant', '=', tenant)
    .where('name', '=', name)
    .execute();
}

/** Records that a write has stored its batch. @returns false if another write has taken the batch over */
export async function markWritten(
  tx: Tx,
  dialect: Dialect,
  { tenant, name, refused }: NamedBatch & Pick<BatchStanding, 'refused'>,
  { number }: OpenWrite,
): Promise<boolean> {
  const marked = await tx
    .updateTable('named_batches')
    .set({ written_at: dialect.now(), refused: refused.join(',') })
    .where('tenant', '=', tenant)
    .where('name', '=', name)
    .where('write_number', '=', number)
    .executeTakeFirst();
  return marked.numUpdatedRows > 0n;
}

/** Removes old names, and for each user all but the newest. @param before SQL, in microseconds on the database's clock @returns how many */
export async function forgetNames(
  tx: Tx,
  store: string,
  before: ReturnType<Dialect['now']>,
  mostOfUser: number,
): Promise<number> {
  const old = await tx
    .deleteFrom('named_batches')
    .where('store', '=', store)
    .where('noted_at', '<=', before)
    .executeTakeFirst();
  const users = await tx
    .selectFrom('named_batches')
    .select('tenant')
    .where('store', '=', store)
    .groupBy('tenant')
    .having(sql<boolean>`count(*) > ${mostOfUser}`)
    .execute();
  let forgotten = Number(old.numDeletedRows);
  for (const { tenant } of users) {
    const newest = tx
      .selectFrom('named_batches')
      .select('noted_at')
      .where('store', '=', store)
      .where('tenant', '=', tenant)
      .orderBy('noted_at', 'desc')
      .offset(mostOfUser)
      .limit(1);
    const beyond = await tx
      .deleteFrom('named_batches')
      .where('store', '=', store)
      .where('tenant', '=', tenant)
      .where('noted_at', '<=', newest)
      .executeTakeFirst();
    forgotten += Number(beyond.numDeletedRows);
  }
  return forgotten;
}

function positionsIn(text: string): number[] {
  return text === '' ? [] : text.split(',').map(Number);
}
