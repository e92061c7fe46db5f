import type { Schemas } from '../../api/client.js';

export type Key = Schemas['ApiKey'];
export type Scope = Key['scopes'][number];

/** The permissions of each scope. */
export const SCOPE_LABELS: Readonly<Record<Scope, string>> = {
  write: 'send traces, metrics and logs',
  read: 'read data',
  manage: 'manage prompts, alerts, webhooks and own keys',
  delegate: 'send data of other users, where a receiver allows it',
  feedback: 'send scores, and nothing else',
  admin: 'everything, including users and organizations',
};

/** Lifetimes of a new key in days; empty for no expiry. */
export const LASTING: Readonly<Record<string, string>> = {
  '': 'never',
  '1': '1 day',
  '7': '7 days',
  '30': '30 days',
  '90': '90 days',
  '365': '1 year',
};

/** The lifetime of a key that ends with the session. */
export const WITH_SESSION = 'session';

const DAY_MS = 86_400_000;

/** Expiry of a key created now. @param days a key of LASTING @returns ISO 8601 */
export function expiryOf(days: string, now: number): string | undefined {
  return days === '' ? undefined : new Date(now + Number(days) * DAY_MS).toISOString();
}

/** Scopes that a user with these scopes may grant. */
export function withinScopes(scopes: readonly Scope[]): readonly Scope[] {
  const all = Object.keys(SCOPE_LABELS) as Scope[];
  return scopes.includes('admin') ? all : all.filter((scope) => scopes.includes(scope));
}

export function keyState(key: Key, now: number): 'active' | 'expired' | 'revoked' {
  if (key.revoked_at !== null) return 'revoked';
  return key.expires_at !== null && Date.parse(key.expires_at) <= now ? 'expired' : 'active';
}

/** Number of usable keys that descend from a key. */
export function activeDescendants(key: Key, keys: readonly Key[], now: number): number {
  const family = new Set([key.id]);
  // A key is created after its parent.
  for (const one of keys.toSorted((a, b) => a.created_at.localeCompare(b.created_at)))
    if (one.parent_id !== null && family.has(one.parent_id)) family.add(one.id);
  return keys.filter((one) => one.id !== key.id && family.has(one.id) && keyState(one, now) === 'active')
    .length;
}

/** Usable keys first, each group the newest first. */
export function usableFirst(keys: readonly Key[], now: number): readonly Key[] {
  const rank = (key: Key): number => (keyState(key, now) === 'active' ? 0 : 1);
  return [...keys].sort((a, b) => rank(a) - rank(b) || b.created_at.localeCompare(a.created_at));
}
