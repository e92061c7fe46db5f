import { SCOPES, type Scope } from '../../component/identity.js';
import type { FollowedKey, StoredKey, StoredUser, User } from '../accounts.js';
import type { Tables } from './tables.js';

export function fromUser(user: User, tenant: number): Tables['users'] {
  const { disabled, ...columns } = user;
  return { ...columns, tenant, email_key: user.email.toLowerCase(), disabled: Number(disabled) };
}

export function toUser(row: Tables['users']): StoredUser {
  const { id, tenant, email, name, monthly_event_limit, stored_bytes_limit, created_at } = row;
  const limits = { monthly_event_limit, stored_bytes_limit };
  return { id, tenant, email, name, ...limits, disabled: row.disabled === 1, created_at };
}

export function fromKey(key: StoredKey, changed: number): Tables['api_keys'] {
  return { ...key, scopes: key.scopes.join(' '), changed };
}

export function toKey(row: Omit<Tables['api_keys'], 'changed'>): StoredKey {
  const { id, user_id, name, prefix, digest, created_at, expires_at, revoked_at, last_used_at } = row;
  return {
    ...{ id, user_id, name, prefix, digest, created_at, expires_at, revoked_at, last_used_at },
    parent_id: row.parent_id,
    scopes: toScopes(row.scopes),
  };
}

/** The columns of a {@link FollowedKey}, except those of its user. */
export const FOLLOWED_COLUMNS = [
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

export function toFollowedKey(row: FollowedRow): FollowedKey {
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
