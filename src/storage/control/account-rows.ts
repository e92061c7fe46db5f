import { sql, type Transaction } from 'kysely';
import type { Micros } from '../../signal/time.js';
import {
  ENDED_KEPT_FOR,
  FOLLOWED_WITHIN,
  MOST_ENDED,
  type Accounts,
  type FirstAccount,
  type FoundKey,
  type KeyChanges,
  type KeysVersion,
  type RevokedKeys,
  type StoredKey,
  type StoredUser,
  type User,
  type UserChange,
} from '../contracts/accounts.js';
import { ConflictError } from '../contracts/errors.js';
import { touchRulesOf } from './alert-rule-rows.js';
import { ROW_BYTES } from '../contracts/telemetry-writer.js';
import type { ControlDatabase } from './control-database.js';
import { nextNumbers, type Counter } from './numbers.js';
import { insertMember, insertOrganization } from './organization-rows.js';
import type { Tables } from './tables.js';
import { SCOPES, type Scope } from '../../component/identity.js';
import type { FollowedKey } from '../contracts/accounts.js';

function fromUser(user: User, tenant: number): Tables['users'] {
  const { disabled, ...columns } = user;
  return { ...columns, tenant, email_key: user.email.toLowerCase(), disabled: Number(disabled) };
}

function toUser(row: Tables['users']): StoredUser {
  const { id, tenant, email, name, monthly_event_limit, stored_bytes_limit, created_at } = row;
  const limits = { monthly_event_limit, stored_bytes_limit };
  return { id, tenant, email, name, ...limits, disabled: row.disabled === 1, created_at };
}

function fromKey(key: StoredKey, changed: number): Tables['api_keys'] {
  return { ...key, scopes: key.scopes.join(' '), changed };
}

function toKey(row: Omit<Tables['api_keys'], 'changed'>): StoredKey {
  const { id, user_id, name, prefix, digest, created_at, expires_at, revoked_at, last_used_at } = row;
  return {
    ...{ id, user_id, name, prefix, digest, created_at, expires_at, revoked_at, last_used_at },
    parent_id: row.parent_id,
    scopes: toScopes(row.scopes),
  };
}

/** The columns of a {@link FollowedKey}, except those of its user. */
const FOLLOWED_COLUMNS = [
  'api_keys.id',
  'api_keys.user_id',
  'api_keys.digest',
  'api_keys.scopes',
  'api_keys.expires_at',
  'api_keys.revoked_at',
  'api_keys.changed',
] as const;

type FollowedRow = Pick<
  Tables['api_keys'],
  'id' | 'user_id' | 'digest' | 'scopes' | 'expires_at' | 'revoked_at'
> &
  Pick<Tables['users'], 'disabled'>;

function toFollowedKey(row: FollowedRow): FollowedKey {
  const { id, user_id, digest, expires_at, revoked_at } = row;
  const scopes = toScopes(row.scopes);
  return { id, user_id, digest, scopes, expires_at, revoked_at, user_disabled: row.disabled === 1 };
}

function toScopes(text: string): readonly Scope[] {
  return text.split(' ').filter(isScope);
}

function isScope(text: string): text is Scope {
  return (SCOPES as readonly string[]).includes(text);
}

/**
 * The counter of tenant numbers. Every change of names, keys or permissions locks it first, so that the rows it reads do not change.
 */
const TENANT: Counter = 'tenant';
/** Each takes a parameter; SQLite allows 32,766. */
const TENANTS_A_QUERY = 10_000;
/** The counter of changes of keys. */
const KEY: Counter = 'key';
const FOLLOWED_AT_ONCE = 500;

/** Users and keys. */
export class AccountRows implements Accounts {
  readonly #database: ControlDatabase;

  constructor(database: ControlDatabase) {
    this.#database = database;
  }

  async findUser(id: string): Promise<StoredUser | null> {
    const row = await this.#database.read((db) =>
      db.selectFrom('users').selectAll().where('id', '=', id.toLowerCase()).executeTakeFirst(),
    );
    return row === undefined ? null : toUser(row);
  }

  async findTenants(tenants: readonly number[]): Promise<ReadonlyMap<number, string>> {
    const found = new Map<number, string>();
    for (let start = 0; start < tenants.length; start += TENANTS_A_QUERY) {
      const some = tenants.slice(start, start + TENANTS_A_QUERY);
      const rows = await this.#database.read((db) =>
        db.selectFrom('users').select(['tenant', 'id']).where('tenant', 'in', some).execute(),
      );
      for (const { tenant, id } of rows) found.set(tenant, id);
    }
    return found;
  }

  async storedBytes(): Promise<ReadonlyMap<number, number>> {
    const { rows } = await this.#database.read((db) =>
      sql<{ tenant: number; bytes: string | number }>`
        select users.tenant as tenant, cast(sum(stored.bytes) as bigint) as bytes from (
          select user_id, sum(bytes) as bytes from prompts group by user_id
          union all
          select user_id, sum(length(name) + length(path) + ${ROW_BYTES.view}) from views group by user_id
          union all
          select user_id, sum(length(coalesce(composite_config, '')) + length(coalesce(score_config, '')) + length(coalesce(webhook_url, '')) + ${ROW_BYTES.alert})
            from alert_rules group by user_id
        ) as stored join users on users.id = stored.user_id group by users.tenant`.execute(db),
    );
    return new Map(rows.map(({ tenant, bytes }) => [tenant, Number(bytes)]));
  }

  async listUsers(): Promise<readonly StoredUser[]> {
    const rows = await this.#database.read((db) =>
      db.selectFrom('users').selectAll().orderBy('created_at').orderBy('id').execute(),
    );
    return rows.map(toUser);
  }

  async createUser(user: User): Promise<number> {
    return await this.#database.transaction((tx) => insertUser(tx, user));
  }

  async updateUser(id: string, change: UserChange): Promise<StoredUser | 'last_admin' | null> {
    const userId = id.toLowerCase();
    return await this.#database.transaction(async (tx, notify) => {
      await this.#lock(tx);
      if (change.disabled === true && (await isLastAdmin(tx, { userId }))) return 'last_admin';
      if (change.email !== undefined) await refuseTaken(tx, change.email, userId);
      const row = await tx
        .updateTable('users')
        // An UPDATE needs at least one column.
        .set({ id: userId, ...changedColumns(change) })
        .where('id', '=', userId)
        .returningAll()
        .executeTakeFirst();
      if (row === undefined) return null;
      notify('keys');
      if (change.disabled !== undefined) {
        const changed = await nextNumbers(tx, KEY, 1);
        await tx.updateTable('api_keys').set({ changed }).where('user_id', '=', userId).execute();
        await touchRulesOf(tx, userId);
        notify('rules');
      }
      return toUser(row);
    });
  }

  async findKey(digest: string): Promise<FoundKey | null> {
    return await this.#database.read(async (db) => {
      const key = await db.selectFrom('api_keys').selectAll().where('digest', '=', digest).executeTakeFirst();
      if (key === undefined) return null;
      const user = await db
        .selectFrom('users')
        .selectAll()
        .where('id', '=', key.user_id)
        .executeTakeFirstOrThrow();
      return { key: toKey(key), user: toUser(user) };
    });
  }

  async listKeys(userId?: string): Promise<readonly StoredKey[]> {
    const rows = await this.#database.read((db) => {
      const all = db.selectFrom('api_keys').selectAll().orderBy('created_at').orderBy('id');
      return (userId === undefined ? all : all.where('user_id', '=', userId.toLowerCase())).execute();
    });
    return rows.map(toKey);
  }

  async followKeys(since: KeysVersion | null): Promise<KeyChanges> {
    const from = since === null ? { changed: -1, id: '' } : readVersion(since);
    // A statement reads one snapshot, and numbers increase with the commits, so later commits have higher numbers.
    const rows = await this.#database.read((db) =>
      db
        .selectFrom('api_keys')
        .innerJoin('users', 'users.id', 'api_keys.user_id')
        .select([...FOLLOWED_COLUMNS, 'users.disabled'])
        .where((row) =>
          row(row.refTuple('api_keys.changed', 'api_keys.id'), '>', row.tuple(from.changed, from.id)),
        )
        .orderBy('api_keys.changed')
        .orderBy('api_keys.id')
        .limit(FOLLOWED_AT_ONCE + 1)
        .execute(),
    );
    const taken = rows.slice(0, FOLLOWED_AT_ONCE);
    const { changed, id } = taken.at(-1) ?? from;
    const version = `${String(changed)}:${id}`;
    return { keys: taken.map(toFollowedKey), version, hasMore: rows.length > taken.length };
  }

  async createKey(key: StoredKey): Promise<boolean> {
    return await this.#database.transaction(async (tx, notify) => {
      const number = await nextNumbers(tx, KEY, 1);
      const user = await tx.selectFrom('users').select('id').where('id', '=', key.user_id).executeTakeFirst();
      if (user === undefined || (await isRevoked(tx, key.parent_id))) return false;
      await pruneEnded(tx, key.user_id, key.created_at);
      await tx.insertInto('api_keys').values(fromKey(key, number)).execute();
      notify('keys');
      return true;
    });
  }

  async revokeKey(id: string, at: Micros, withChildren = false): Promise<RevokedKeys> {
    return await this.#database.transaction(async (tx, notify) => {
      await this.#lock(tx);
      // Taken before the keys are read: a concurrent `createKey` waits, and finds its parent revoked.
      const changed = await nextNumbers(tx, KEY, 1);
      const keyIds = await family(tx, id.toLowerCase(), withChildren);
      if (keyIds.length === 0) return 'unknown';
      if (await isLastAdmin(tx, { keyIds })) return 'last_admin';
      const revoked = await tx
        .updateTable('api_keys')
        .set({ revoked_at: at, changed })
        .where('id', 'in', keyIds)
        .where('revoked_at', 'is', null)
        .returning('id')
        .execute();
      const { user_id } = await tx
        .selectFrom('api_keys')
        .select('user_id')
        .where('id', '=', id.toLowerCase())
        .executeTakeFirstOrThrow();
      await pruneEnded(tx, user_id, at);
      notify('keys');
      return revoked.map((row) => row.id);
    });
  }

  async touchKeys(uses: readonly { readonly id: string; readonly at: Micros }[]): Promise<void> {
    if (uses.length === 0) return;
    // Sorted, so that two calls for the same keys do not deadlock.
    const sorted = [...uses].sort((a, b) => (a.id < b.id ? -1 : 1));
    await this.#database.transaction(async (tx) => {
      for (const { id, at } of sorted)
        await tx
          .updateTable('api_keys')
          .set({ last_used_at: at })
          .where('id', '=', id)
          .where((row) => row.or([row('last_used_at', 'is', null), row('last_used_at', '<', at)]))
          .execute();
    });
  }

  async bootstrap({ user, organization, key }: FirstAccount): Promise<boolean> {
    return await this.#database.transaction(async (tx, notify) => {
      await this.#lock(tx);
      const other = await tx.selectFrom('users').select('id').limit(1).executeTakeFirst();
      if (other !== undefined) return false;
      await insertUser(tx, user);
      await insertOrganization(tx, organization);
      await insertMember(tx, { organization_id: organization.id, user_id: user.id, role: 'admin' });
      await tx
        .insertInto('api_keys')
        .values(fromKey(key, await nextNumbers(tx, KEY, 1)))
        .execute();
      notify('keys');
      return true;
    });
  }

  async #lock(tx: Transaction<Tables>): Promise<void> {
    const row = tx.selectFrom('counters').select('last').where('name', '=', TENANT);
    await this.#database.dialect.lock(row).executeTakeFirstOrThrow();
  }
}

/**
 * Inserts a user. Also takes the lock of {@link TENANT}.
 *
 * @returns the tenant number
 * @throws ConflictError `email`
 */
async function insertUser(tx: Transaction<Tables>, user: User): Promise<number> {
  const tenant = await nextNumbers(tx, TENANT, 1);
  await refuseTaken(tx, user.email, user.id);
  await tx.insertInto('users').values(fromUser(user, tenant)).execute();
  return tenant;
}

/** @returns the id of a key and, with `withChildren`, of all its descendants; empty if the key does not exist */
async function family(tx: Transaction<Tables>, keyId: string, withChildren: boolean): Promise<string[]> {
  if (!withChildren) {
    const one = await tx.selectFrom('api_keys').select('id').where('id', '=', keyId).execute();
    return one.map(({ id }) => id);
  }
  const all = await tx
    .withRecursive('family(id)', (db) =>
      db
        .selectFrom('api_keys')
        .select('api_keys.id')
        .where('api_keys.id', '=', keyId)
        .union(
          db
            .selectFrom('api_keys')
            .innerJoin('family', 'family.id', 'api_keys.parent_id')
            .select('api_keys.id'),
        ),
    )
    .selectFrom('family')
    .select('family.id')
    .execute();
  return all.map(({ id }) => id);
}

async function isRevoked(tx: Transaction<Tables>, keyId: string | null): Promise<boolean> {
  if (keyId === null) return false;
  const key = await tx.selectFrom('api_keys').select('revoked_at').where('id', '=', keyId).executeTakeFirst();
  return key !== undefined && key.revoked_at !== null;
}

/** @throws ConflictError `email`, if another user has the address */
async function refuseTaken(tx: Transaction<Tables>, email: string, userId: string): Promise<void> {
  const other = await tx
    .selectFrom('users')
    .select('id')
    .where('email_key', '=', email.toLowerCase())
    .where('id', '<>', userId)
    .executeTakeFirst();
  if (other !== undefined) throw new ConflictError('email', `A user with the email ${email} already exists.`);
}

/** Removes keys of all users that ended {@link ENDED_KEPT_FOR} ago, and of this user all but the newest {@link MOST_ENDED}. */
async function pruneEnded(tx: Transaction<Tables>, userId: string, now: Micros): Promise<void> {
  const oldest = now - ENDED_KEPT_FOR;
  const ended = await tx
    .selectFrom('api_keys')
    .select(['id', 'user_id', 'revoked_at', 'expires_at'])
    .where((row) =>
      row.or([
        row('revoked_at', '<=', oldest),
        row('expires_at', '<=', oldest),
        row.and([
          row('user_id', '=', userId),
          row.or([row('revoked_at', 'is not', null), row('expires_at', '<=', now)]),
        ]),
      ]),
    )
    .execute();
  const byEnd = ended
    .map((key) => ({ ...key, end: Math.min(key.revoked_at ?? Infinity, key.expires_at ?? Infinity) }))
    .sort((a, b) => b.end - a.end);
  const surplus = byEnd
    .filter((key) => key.user_id === userId)
    .slice(MOST_ENDED)
    .filter(({ end }) => end <= now - FOLLOWED_WITHIN);
  const removed = new Set([...byEnd.filter(({ end }) => end <= oldest), ...surplus].map(({ id }) => id));
  for (const id of removed) {
    // Logins of a removed key are unusable.
    await tx.deleteFrom('logins').where('key_id', '=', id).execute();
    await tx.deleteFrom('login_links').where('key_id', '=', id).execute();
    // Keeps the parent chain intact, which revoking a key with its children follows.
    const parent = tx.selectFrom('api_keys').select('parent_id').where('id', '=', id);
    const { parent_id } = await parent.executeTakeFirstOrThrow();
    await tx.updateTable('api_keys').set({ parent_id }).where('parent_id', '=', id).execute();
    await tx.deleteFrom('api_keys').where('id', '=', id).execute();
  }
}

function changedColumns({
  email,
  name,
  monthly_event_limit,
  stored_bytes_limit,
  disabled,
}: UserChange): Partial<Tables['users']> {
  return {
    ...(email !== undefined && { email, email_key: email.toLowerCase() }),
    ...(name !== undefined && { name }),
    ...(monthly_event_limit !== undefined && { monthly_event_limit }),
    ...(stored_bytes_limit !== undefined && { stored_bytes_limit }),
    ...(disabled !== undefined && { disabled: Number(disabled) }),
  };
}

function readVersion(version: KeysVersion): { readonly changed: number; readonly id: string } {
  const [, changed, id] = /^(-?\d+):(.*)$/su.exec(version) ?? [];
  const number = Number(changed);
  if (id === undefined || !Number.isSafeInteger(number)) throw new RangeError('invalid version of the keys');
  return { changed: number, id };
}

/**
 * Whether no administrator would remain without these keys, or without this user's keys: no key that has the scope, is not revoked, does
 * not expire, and belongs to a user that is not disabled. Keys with an expiry do not count, because none would be left after it. Must be
 * called under the lock that all changes of keys and users take.
 */
async function isLastAdmin(
  tx: Transaction<Tables>,
  without: { readonly keyIds: readonly string[] } | { readonly userId: string },
): Promise<boolean> {
  const lasting = await tx
    .selectFrom('api_keys')
    .innerJoin('users', 'users.id', 'api_keys.user_id')
    .select(['api_keys.id', 'api_keys.user_id'])
    .where('api_keys.revoked_at', 'is', null)
    .where('api_keys.expires_at', 'is', null)
    .where('users.disabled', '=', 0)
    .where(sql<string>`' ' || api_keys.scopes || ' '`, 'like', '% admin %')
    .execute();
  const isGone = (key: { id: string; user_id: string }): boolean =>
    'keyIds' in without ? without.keyIds.includes(key.id) : key.user_id === without.userId;
  return lasting.length > 0 && lasting.every(isGone);
}
