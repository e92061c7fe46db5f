import type { Scope } from '../component/identity.js';

/** Whether a key with these scopes may do what asks for `needed`; `admin` implies the others. */
export function grants(scopes: readonly Scope[], needed: Scope): boolean {
  return scopes.includes(needed) || scopes.includes('admin');
}
