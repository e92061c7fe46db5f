import { sql, type Transaction } from 'kysely';
import type { Micros } from '../../signal/time.js';
import {
  LINKS_OF_A_USER,
  type Login,
  LOGIN_IDLE,
  LOGIN_LONGEST,
  type LoginChanges,
  type LoginLink,
  type Logins,
  LOGINS_OF_A_USER,
  type LoginsVersion,
} from '../contracts/accounts.js';
import type { ControlDatabase } from './control-database.js';
import { nextNumbers, type Counter } from './numbers.js';
import type { Tables } from './tables.js';

/** The counter of login changes. Taking a number serializes the transactions, so that limits hold. */
const LOGIN: Counter = 'login';
const FOLLOWED_AT_ONCE = 500;

/**
 * Logins and links, one row each. The row of an ended login is kept until it would have expired, so that other processes learn of its
 * end.
 */
export class LoginRows implements Logins {
  readonly #database: ControlDatabase;

  constructor(database: ControlDatabase) {
    this.#database = database;
  }

  async create(login: Login): Promise<void> {
    await this.#database.transaction(async (tx, notify) => {
      const changed = await nextNumbers(tx, LOGIN, 1);
      await tx.deleteFrom('logins').where('expires_at', '<=', login.created_at).execute();
      const others = await tx
        .selectFrom('logins')
        .select('id')
        .where('user_id', '=', login.user_id)
        .where('has_ended', '=', 0)
        .orderBy('expires_at', 'desc')
        .orderBy('id', 'desc')
        .offset(LOGINS_OF_A_USER - 1)
        .limit(LOGINS_OF_A_USER)
        .execute();
      if (others.length > 0)
        await tx
          .updateTable('logins')
          .set({ has_ended: 1, changed })
          .where(
            'id',
            'in',
            others.map(({ id }) => id),
          )
          .execute();
      await tx
        .insertInto('logins')
        .values({ ...login, has_ended: 0, changed })
        .execute();
      notify('logins');
    });
  }

  async follow(since: LoginsVersion | null): Promise<LoginChanges> {
    const from = since === null ? { changed: -1, id: '' } : readVersion(since);
    // A statement reads one snapshot, and numbers increase with the commits, so later commits have higher numbers.
    const rows = await this.#database.read((db) =>
      db
        .selectFrom('logins')
        .selectAll()
        .where((row) => row(row.refTuple('changed', 'id'), '>', row.tuple(from.changed, from.id)))
        .orderBy('changed')
        .orderBy('id')
        .limit(FOLLOWED_AT_ONCE + 1)
        .execute(),
    );
    const taken = rows.slice(0, FOLLOWED_AT_ONCE);
    const { changed, id } = taken.at(-1) ?? from;
    return {
      logins: taken.map((row) => ({ ...toLogin(row), has_ended: row.has_ended === 1 })),
      version: `${String(changed)}:${id}`,
      hasMore: rows.length > taken.length,
    };
  }

  async list(userId: string, now: Micros): Promise<readonly Login[]> {
    const rows = await this.#database.read((db) =>
      db
        .selectFrom('logins')
        .selectAll()
        .where('user_id', '=', userId)
        .where('has_ended', '=', 0)
        .where('expires_at', '>', now)
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .execute(),
    );
    return rows.map(toLogin);
  }

  async end(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await this.#database.transaction(async (tx, notify) => {
      const changed = await nextNumbers(tx, LOGIN, 1);
      await tx.updateTable('logins').set({ has_ended: 1, changed }).where('id', 'in', ids).execute();
      notify('logins');
    });
  }

  async extend(uses: readonly { readonly id: string; readonly at: Micros }[]): Promise<void> {
    if (uses.length === 0) return;
    await this.#database.transaction(async (tx) => {
      const changed = await nextNumbers(tx, LOGIN, 1);
      for (const { id, at } of uses)
        await tx
          .updateTable('logins')
          .set({ last_seen_at: at, expires_at: endAfter(at), changed })
          .where('id', '=', id)
          .where('has_ended', '=', 0)
          .where('last_seen_at', '<', at)
          .execute();
    });
  }

  async createLink(link: LoginLink, now: Micros): Promise<void> {
    await this.#database.transaction(async (tx) => {
      await nextNumbers(tx, LOGIN, 1);
      await tx.deleteFrom('login_links').where('expires_at', '<=', now).execute();
      await removeOldest(tx, link.user_id);
      await tx.insertInto('login_links').values(link).execute();
    });
  }

  async findLink(digest: string, now: Micros): Promise<LoginLink | null> {
    const found = await this.#database.read((db) =>
      db
        .selectFrom('login_links')
        .selectAll()
        .where('digest', '=', digest)
        .where('expires_at', '>', now)
        .executeTakeFirst(),
    );
    return found ?? null;
  }

  async redeemLink(digest: string, now: Micros): Promise<LoginLink | null> {
    return await this.#database.transaction(async (tx) => {
      const found = await tx
        .deleteFrom('login_links')
        .where('digest', '=', digest)
        .returningAll()
        .executeTakeFirst();
      return found === undefined || found.expires_at <= now ? null : found;
    });
  }
}

function toLogin(row: Tables['logins']): Login {
  const { id, digest, user_id, key_id, created_at, expires_at, last_seen_at, address, user_agent } = row;
  return { id, digest, user_id, key_id, created_at, expires_at, last_seen_at, address, user_agent };
}

/** When a login used at this time expires. */
function endAfter(at: Micros) {
  const idle = at + LOGIN_IDLE;
  return sql<number>`case when created_at < ${idle - LOGIN_LONGEST} then created_at + ${LOGIN_LONGEST} else ${idle} end`;
}

/** Makes room for one more link of a user. */
async function removeOldest(tx: Transaction<Tables>, userId: string): Promise<void> {
  const tooMany = await tx
    .selectFrom('login_links')
    .select('digest')
    .where('user_id', '=', userId)
    .orderBy('expires_at', 'desc')
    .orderBy('digest')
    .offset(LINKS_OF_A_USER - 1)
    .limit(LINKS_OF_A_USER)
    .execute();
  if (tooMany.length === 0) return;
  await tx
    .deleteFrom('login_links')
    .where(
      'digest',
      'in',
      tooMany.map(({ digest }) => digest),
    )
    .execute();
}

function readVersion(version: LoginsVersion): { readonly changed: number; readonly id: string } {
  const [, changed, id] = /^(-?\d+):(.*)$/su.exec(version) ?? [];
  const number = Number(changed);
  if (id === undefined || !Number.isSafeInteger(number))
    throw new RangeError('invalid version of the logins');
  return { changed: number, id };
}
