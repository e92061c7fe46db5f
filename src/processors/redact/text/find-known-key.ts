import type { Match } from './finder.js';
import { KNOWN_KEYS } from './known-keys.js';
import { Literals, type Place } from './literals.js';

/** The signs of all known forms. */
export const KEY_SIGNS = new Literals(KNOWN_KEYS.map(({ sign }) => sign));

/** `ghp_xxxxxxxxxxxx` stands in texts about keys. */
const PLACEHOLDER = /[xX*]{8}/;
/** No form that has its sign in the middle is longer. */
const WINDOW = 256;

/** The key of which a sign stands at a place, where it is one. What stands around it is not looked at. */
export function keyAt(text: string, { at, which }: Place): Match | undefined {
  const known = KNOWN_KEYS[which];
  if (known === undefined) throw new Error(`there is no form ${String(which)}`);
  const { pattern, before } = known;
  const from = Math.max(0, at - before);
  pattern.lastIndex = at;
  const found = pattern.exec(pattern.sticky ? text : text.slice(from, at + WINDOW));
  if (found === null) return undefined;
  const start = pattern.sticky ? at : from + found.index;
  if (start > at || PLACEHOLDER.test(found[0])) return undefined;
  const end = start + found[0].length;
  return { start: found[1] === undefined ? start : end - found[1].length, end };
}
