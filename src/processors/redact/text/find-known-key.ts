import type { Match } from './finder.js';
import { KNOWN_KEYS, LONGEST_MATCH } from './known-keys.js';
import { Literals, type Place } from './literals.js';

/** The signs of all known forms. */
export const KEY_SIGNS = new Literals(KNOWN_KEYS.map(({ sign }) => sign));

/** `ghp_xxxxxxxxxxxx` stands in texts about keys. */
const PLACEHOLDER = /[xX*]{8}/;
/** No form that has its sign in the middle is longer. */
const WINDOW = 256;

/** What a key is made of that is longer than any known one. */
const REST_OF_LONG = /[\w+/=-]*/y;

/** Finds where a key ends that is longer than what a pattern looks at, and follows each word once, whatever number of keys it holds. */
export class LongKeys {
  readonly #text: string;
  /** The word that was followed last: from, to. */
  #followed: [number, number] = [0, 0];

  constructor(text: string) {
    this.#text = text;
  }

  /** The whole of a key. */
  whole({ start, end }: Match): Match {
    if (end - start < LONGEST_MATCH) return { start, end };
    const [from, to] = this.#followed;
    if (end < from || end > to) {
      REST_OF_LONG.lastIndex = end;
      REST_OF_LONG.test(this.#text);
      this.#followed = [end, Math.max(end, REST_OF_LONG.lastIndex)];
    }
    return { start, end: this.#followed[1] };
  }
}

/**
 * The key of which a sign stands at a place, where it is one. What stands before it is not looked at.
 *
 * @param form `loose`: nor is what stands behind it
 */
export function keyAt(
  text: string,
  { at, which }: Place,
  form: 'pattern' | 'loose' = 'pattern',
): Match | undefined {
  const known = KNOWN_KEYS[which];
  if (known === undefined) throw new Error(`there is no form ${String(which)}`);
  const { before, [form]: pattern } = known;
  const from = Math.max(0, at - before);
  pattern.lastIndex = at;
  const found = pattern.exec(pattern.sticky ? text : text.slice(from, at + WINDOW));
  if (found === null) return undefined;
  const start = pattern.sticky ? at : from + found.index;
  if (start > at || PLACEHOLDER.test(found[0])) return undefined;
  const end = start + found[0].length;
  return { start: found[1] === undefined ? start : end - found[1].length, end };
}
