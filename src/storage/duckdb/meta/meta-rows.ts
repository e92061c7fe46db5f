import { SCOPES, type Scope } from '../../../component/identity.js';
import type { Organization, StoredKey, User } from '../../meta-store.js';
import type { Row, Value } from '../connection.js';

/** Rows of the small tables as what they mean. */

export function toUser(row: Row): User {
  return {
    id: String(row.id),
    email: String(row.email),
    name: String(row.name),
    monthly_event_limit: row.monthly_event_limit === null ? null : Number(row.monthly_event_limit),
    disabled: row.disabled === true,
    created_at: Number(row.created_at),
  };
}

export function toKey(row: Row): StoredKey {
  const time = (value: Value | undefined) => (typeof value === 'number' ? value : null);
  return {
    id: String(row.id),
    user_id: String(row.user_id),
    name: String(row.name),
    prefix: String(row.prefix),
    digest: String(row.digest),
    scopes: String(row.scopes).split(' ').filter(isScope),
    created_at: Number(row.created_at),
    expires_at: time(row.expires_at),
    revoked_at: time(row.revoked_at),
    last_used_at: time(row.last_used_at),
  };
}

export function toOrganization(row: Row): Organization {
  return {
    id: String(row.id),
    slug: String(row.slug),
    name: String(row.name),
    created_at: Number(row.created_at),
  };
}

function isScope(text: string): text is Scope {
  return (SCOPES as readonly string[]).includes(text);
}
