import type { Match } from './finder.js';
import { KNOWN_KEYS, LONGEST_MATCH } from './known-keys.js';
import { Literals, type Place } from './literals.js';

/** The signs of all known formats. */
export const KEY_SIGNS = new Literals(KNOWN_KEYS.map(({ sign }) => sign));

/** `ghp_xxxxxxxxxxxx` is common in documentation. */
const PLACEHOLDER = /[xX*]{8}/;
/** Formats with the sign in the middle are shorter. */
const WINDOW = 256;

/** The rest of a key that is longer than the patterns match. */
const REST_OF_LONG = /[\w+/=-]*/y;

/** Finds the end of a key longer than the pattern limit. Scans each word once, however many keys it contains. */
export class LongKeys {
  readonly #text: string;
  /** The last scanned word: start, end. */
  #followed: [number, number] = [0, 0];

  constructor(text: string) {
    this.#text = text;
  }

  /** Extends a match to the end of the key. */
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
 * The key whose sign is at a position, if it is a key. Does not check the text before it.
 *
 * @param form `loose`: does not check the text after it either
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
