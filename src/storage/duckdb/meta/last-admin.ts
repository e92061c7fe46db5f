import type { MetaConnection } from './meta-connection.js';

/** Keys that administer for good: with the scope, neither revoked nor with an end, of users that are not disabled. */
const LASTING = `SELECT api_keys.id::VARCHAR AS id, user_id::VARCHAR AS user_id
  FROM api_keys JOIN users ON users.id = api_keys.user_id
  WHERE revoked_at IS NULL AND expires_at IS NULL AND NOT disabled AND list_contains(string_split(scopes, ' '), 'admin')`;

/**
 * Whether nobody could administer for good without this key, or without the keys of this user. In the transaction under
 * way. A key that will expire is no way in: nothing would be left after its time.
 */
export async function isLastAdmin(
  connection: MetaConnection,
  without: { readonly keyId: string } | { readonly userId: string },
): Promise<boolean> {
  const lasting = await connection.rows(LASTING);
  const left = lasting.filter((key) =>
    'keyId' in without
      ? key.id !== without.keyId.toLowerCase()
      : key.user_id !== without.userId.toLowerCase(),
  );
  return lasting.length > 0 && left.length === 0;
}
