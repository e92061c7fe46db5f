import { SCOPES, type Scope } from '../../component/identity.js';
import type { StoredUser } from '../accounts.js';
import type { StoredKey, User } from '../meta-store.js';
import type { Tables } from './tables.js';

export function fromUser(user: User, tenant: number): Tables['users'] {
  const { id, email, name, monthly_event_limit, disabled, created_at } = user;
  const email_key = email.toLowerCase();
  return { id, tenant, email, email_key, name, monthly_event_limit, disabled: Number(disabled), created_at };
}

export function toUser(row: Tables['users']): StoredUser {
  const { id, tenant, email, name, monthly_event_limit, created_at } = row;
  return { id, tenant, email, name, monthly_event_limit, disabled: row.disabled === 1, created_at };
}

export function fromKey(key: StoredKey): Tables['api_keys'] {
  return { ...key, scopes: key.scopes.join(' ') };
}

export function toKey(row: Tables['api_keys']): StoredKey {
  return { ...row, scopes: row.scopes.split(' ').filter(isScope) };
}

function isScope(text: string): text is Scope {
  return (SCOPES as readonly string[]).includes(text);
}
