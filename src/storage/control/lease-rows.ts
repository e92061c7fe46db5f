import { sql, type Transaction } from 'kysely';
import type { Lease, Leases } from '../contracts/coordination.js';
import type { ControlDatabase } from './control-database.js';
import { fromNow, type Dialect } from './dialect.js';
import type { Tables } from './tables.js';

/** One row per name, which is kept when the lease is released, so that tokens increase. */
export class LeaseRows implements Leases {
  readonly #database: ControlDatabase;

  constructor(database: ControlDatabase) {
    this.#database = database;
  }

  async take(name: string, owner: string, ms: number): Promise<Lease | null> {
    const now = this.#database.dialect.now();
    return await this.#database.transaction(async (tx) => {
      const taken = await tx
        .insertInto('leases')
        .values({ name, owner, token: 1, expires_at: this.#end(ms) })
        .onConflict((conflict) =>
          conflict
            .column('name')
            .doUpdateSet((row) => ({
              owner,
              token: sql<number>`${row.ref('leases.token')} + 1`,
              expires_at: row.ref('excluded.expires_at'),
            }))
            .where((row) => row.or([row('leases.expires_at', '<=', now), row('leases.owner', '=', owner)])),
        )
        .returning('token')
        .executeTakeFirst();
      return taken === undefined ? null : { name, owner, token: taken.token };
    });
  }

  async renew(lease: Lease, ms: number): Promise<boolean> {
    return await this.#set(lease, this.#end(ms));
  }

  async release(lease: Lease): Promise<void> {
    await this.#set(lease, sql<number>`0`);
  }

  async #set(lease: Lease, end: ReturnType<Dialect['now']>): Promise<boolean> {
    return await this.#database.transaction(async (tx) => {
      const changed = await tx
        .updateTable('leases')
        .set({ expires_at: end })
        .where('name', '=', lease.name)
        .where('token', '=', lease.token)
        .where('expires_at', '>', 0)
        .executeTakeFirst();
      return changed.numUpdatedRows > 0n;
    });
  }

  #end(ms: number): ReturnType<Dialect['now']> {
    return fromNow(this.#database.dialect, ms);
  }
}

/** Whether a lease is still held, locked until the end of the transaction. */
export async function holdsLease(tx: Transaction<Tables>, dialect: Dialect, lease: Lease): Promise<boolean> {
  const query = tx
    .selectFrom('leases')
    .select('token')
    .where('name', '=', lease.name)
    .where('token', '=', lease.token)
    .where('expires_at', '>', 0);
  return (await dialect.lock(query).executeTakeFirst()) !== undefined;
}
