import type { Finder, Hint } from '../text/finder.js';
import { FOLDED_HINT } from '../text/folding.js';
import type { KeyNames } from '../keys.js';

/** A character of a text in JSON that is written by its number. */
const ESCAPED = /\\u[0-9a-f]/i;

/** Tells of a span's bytes whether they have to be read at all, which takes much longer than to look through them. */
export class BytesHint {
  /** Undefined: always. */
  readonly #hints: readonly Hint[] | undefined;

  constructor(finders: readonly Finder[], keys: readonly KeyNames[]) {
    const ofFinders = finders.flatMap(({ hints }) => hints ?? []);
    const isKnown = finders.every(({ hints }) => hints !== undefined);
    const ofKeys = keys.map(({ hint }) => hint).filter((hint) => hint !== undefined);
    this.#hints = isKnown ? [...ofFinders, ...ofKeys, FOLDED_HINT, ESCAPED] : undefined;
  }

  /** @returns false only where certainly nothing is in them that must go */
  mayHold(bytes: Uint8Array): boolean {
    if (this.#hints === undefined) return true;
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
    return this.#hints.some((hint) => hint.test(text, bytes));
  }
}
