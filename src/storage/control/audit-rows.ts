import type { Transaction } from 'kysely';
import {
  type AuditEntry,
  type AuditFilter,
  type AuditLog,
  type AuditPage,
  MAX_AUDIT_ENTRIES,
  MAX_STRANGER_ENTRIES,
} from '../contracts/accounts.js';
import type { ControlDatabase } from './control-database.js';
import { nextNumbers } from './numbers.js';
import type { Tables } from './tables.js';

/** Rows per insert, because databases limit the parameters of a statement. */
const ROWS_AT_ONCE = 200;

/** `AuditLog`, one row per entry. */
export class AuditRows implements AuditLog {
  readonly #database: ControlDatabase;

  constructor(database: ControlDatabase) {
    this.#database = database;
  }

  async append(entries: readonly AuditEntry[]): Promise<void> {
    if (entries.length === 0) return;
    await this.#database.transaction(async (tx) => {
      const last = await nextNumbers(tx, 'audit', entries.length);
      const first = last - entries.length + 1;
      const rows = entries.map((entry, i) => ({ number: first + i, ...entry }));
      for (let start = 0; start < rows.length; start += ROWS_AT_ONCE)
        await tx
          .insertInto('audit_entries')
          .values(rows.slice(start, start + ROWS_AT_ONCE))
          .execute();
      for (const isStranger of [false, true])
        if (entries.some(({ user_id }) => (user_id === null) === isStranger)) await trim(tx, isStranger);
    });
  }

  async list(
    { action, userId, from, to }: AuditFilter,
    { offset, limit }: { readonly offset: number; readonly limit: number },
  ): Promise<AuditPage> {
    return await this.#database.read(async (db) => {
      let query = db.selectFrom('audit_entries');
      if (action !== undefined) query = query.where('action', '=', action);
      if (userId !== undefined) query = query.where('user_id', '=', userId.toLowerCase());
      if (from !== undefined) query = query.where('at', '>=', from);
      if (to !== undefined) query = query.where('at', '<', to);
      const { count } = await query
        .select((row) => row.fn.countAll<number | string>().as('count'))
        .executeTakeFirstOrThrow();
      const items = await query
        .select(['at', 'action', 'user_id', 'key_id', 'address', 'fields'])
        .orderBy('number', 'desc')
        .limit(limit)
        .offset(offset)
        .execute();
      return { items, count: Number(count) };
    });
  }
}

/** Removes all but the newest entries, of users or of unauthenticated clients. */
async function trim(tx: Transaction<Tables>, isStranger: boolean): Promise<void> {
  const operator = isStranger ? 'is' : 'is not';
  await tx
    .deleteFrom('audit_entries')
    .where('user_id', operator, null)
    .where('number', '<=', (row) =>
      row
        .selectFrom('audit_entries')
        .select('number')
        .where('user_id', operator, null)
        .orderBy('number', 'desc')
        .limit(1)
        .offset(isStranger ? MAX_STRANGER_ENTRIES : MAX_AUDIT_ENTRIES),
    )
    .execute();
}
