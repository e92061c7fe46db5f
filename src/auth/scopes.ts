import type { Scope } from '../component/identity.js';

/** Whether these scopes include `needed`; `admin` includes all others. */
export function grants(scopes: readonly Scope[], needed: Scope): boolean {
  return scopes.includes(needed) || scopes.includes('admin');
}
