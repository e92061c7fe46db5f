import type { Environment } from '@marcbachmann/cel-js';
import { nearestName } from '../config/nearest-name.js';
import { MATCHES } from './patterns.js';
import { PRESENCE } from './presence.js';

/** What CEL says it knows. */
export type Functions = ReturnType<Environment['getDefinitions']>['functions'];

/** The call that CEL names in quotes: `'string.startWith(string)'`. */
const CALL = /'(?:[^'(]*\.)?([^'(.]+)\(.*'/s;
/** Enough for every function of CEL that takes one kind of thing. */
const MOST_WAYS = 4;

/**
 * What to do about a call that CEL has no function for: the name that was meant, or how the function is called.
 *
 * @param summary what CEL says
 * @param functions all that may be called
 * @returns to be written behind that; empty where nothing is near
 */
export function callAdvice(summary: string, functions: Functions): string {
  const name = CALL.exec(summary)?.[1];
  if (name === undefined) return '';
  const ways = functions.filter((known) => known.name === name).map(({ signature }) => signature);
  if (ways.length > 0) return `; it is called as ${ways.slice(0, MOST_WAYS).join(' or ')}`;
  const names = functions
    .map((known) => known.name)
    .filter((known) => known !== PRESENCE && known !== MATCHES);
  const nearest = nearestName(name, names);
  return nearest === undefined ? `; there is no function "${name}"` : `; did you mean "${nearest}"?`;
}
