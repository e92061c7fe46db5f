import { HttpProblem } from '../component/http.js';
import type { Scope } from '../component/identity.js';

/** Whether these scopes include `needed`; `admin` includes all others, `write` includes `feedback`. */
export function grants(scopes: readonly Scope[], needed: Scope): boolean {
  const isFeedback = needed === 'feedback' && scopes.includes('write');
  return isFeedback || scopes.includes(needed) || scopes.includes('admin');
}

/** Whether a key may be published in web pages: it can send scores and do nothing else. */
export function isFeedbackOnly(scopes: readonly Scope[]): boolean {
  return scopes.every((scope) => scope === 'feedback');
}

/** The error for a key without the required scope. */
export function lacksScope(scope: Scope): HttpProblem {
  const scopes = scope === 'feedback' ? '"feedback" or "write"' : `"${scope}"`;
  return new HttpProblem(403, 'forbidden_scope', `The API key lacks the scope ${scopes}.`);
}
