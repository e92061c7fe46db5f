import { sql, type Transaction } from 'kysely';
import type { Tables } from './tables.js';

/**
 * Whether for good nobody could administer without these keys, or without the keys of this user: by keys that have the scope, are
 * not revoked, do not expire, and whose users are not disabled. A key that will expire does not help, because nothing would be
 * left after its time. To be called under the lock that all changes of keys and users take.
 */
export async function isLastAdmin(
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
