import type { KeyNames } from '../keys.js';
import type { Finder } from '../text/finder.js';
import { folded, unescaped } from '../text/folding.js';
import { codes, pairs, Signs, type Sign } from '../text/signs.js';

/** Results of the first and of the second set of signs. */
const MATCH = 1;
const ESCAPED = 2;
/** A character that JSON text writes by its code, and a slash, which some writers escape. */
const ESCAPE: Sign = { pairs: pairs(codes('\\'), codes('uU/')), isThere: () => true };

/** Decides whether a span's bytes or a JSON text must be decoded: checking takes a tenth of the decoding time. */
export class Gate {
  /**
   * The signs to search for, or a boolean: whether records must always be searched, because signs are unknown, or never, because
   * there is nothing to find.
   */
  readonly #signs: { readonly ofTexts: Signs; readonly ofBytes: Signs } | boolean;

  constructor(finders: readonly Finder[], keys: readonly KeyNames[]) {
    const lists = [...finders, ...keys].map(({ signs }) => signs);
    const signs = lists.flatMap((list) => list ?? []);
    const onWire = finders.flatMap(({ wireSigns }) => wireSigns ?? []);
    if (lists.includes(undefined)) this.#signs = true;
    else if (signs.length === 0) this.#signs = false;
    else
      this.#signs = {
        ofTexts: new Signs([signs, [ESCAPE]]),
        ofBytes: new Signs([[...signs, ...onWire], [ESCAPE]]),
      };
  }

  /** @returns false only if the bytes certainly contain nothing to redact */
  mayHold(bytes: Uint8Array): boolean {
    if (typeof this.#signs === 'boolean') return this.#signs;
    const { ofBytes } = this.#signs;
    const found = ofBytes.inBytes(bytes, MATCH);
    if ((found & MATCH) !== 0) return true;
    if (found === 0) return false;
    const { buffer, byteOffset, length } = bytes;
    return mayHoldOtherwise(Buffer.from(buffer, byteOffset, length).toString('utf8'), found, ofBytes);
  }

  /** Like {@link mayHold}, for a text. */
  mayHoldText(text: string): boolean {
    if (typeof this.#signs === 'boolean') return this.#signs;
    const { ofTexts } = this.#signs;
    const found = ofTexts.inText(text, MATCH);
    return (found & MATCH) !== 0 || (found !== 0 && mayHoldOtherwise(text, found, ofTexts));
  }
}

/** Whether a text contains a sign after alternative spellings are normalized. */
function mayHoldOtherwise(text: string, found: number, signs: Signs): boolean {
  const plain = (found & ESCAPED) === 0 ? text : unescaped(text);
  if (plain === undefined) return true;
  const usual = folded(plain);
  return usual !== text && (signs.inText(usual, MATCH) & MATCH) !== 0;
}
