import type { KeyNames } from '../keys.js';
import type { Finder } from '../text/finder.js';
import { folded, unescaped } from '../text/folding.js';
import { codes, pairs, Signs, type Sign } from '../text/signs.js';

/** What is told by the first and by the second set of signs. */
const TELLING = 1;
const ESCAPED = 2;
/** A character that a text in JSON writes by its number, and a slash, which some always escape. */
const ESCAPE: Sign = { pairs: pairs(codes('\\'), codes('uU/')), isThere: () => true };

/** Tells of a span's bytes, or of a text in JSON, whether they have to be read at all: to look through them takes a tenth of that. */
export class Gate {
  /** What there is to look for; where it is not known what or there is nothing, whether they have to. */
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

  /** @returns false only where certainly nothing is in them that must go */
  mayHold(bytes: Uint8Array): boolean {
    if (typeof this.#signs === 'boolean') return this.#signs;
    const { ofBytes } = this.#signs;
    const found = ofBytes.inBytes(bytes, TELLING);
    if ((found & TELLING) !== 0) return true;
    if (found === 0) return false;
    const { buffer, byteOffset, length } = bytes;
    return mayHoldOtherwise(Buffer.from(buffer, byteOffset, length).toString('utf8'), found, ofBytes);
  }

  /** Likewise of a text. */
  mayHoldText(text: string): boolean {
    if (typeof this.#signs === 'boolean') return this.#signs;
    const { ofTexts } = this.#signs;
    const found = ofTexts.inText(text, TELLING);
    return (found & TELLING) !== 0 || (found !== 0 && mayHoldOtherwise(text, found, ofTexts));
  }
}

/** Whether there is a sign in a text once what is written in another way is written as usual. */
function mayHoldOtherwise(text: string, found: number, signs: Signs): boolean {
  const plain = (found & ESCAPED) === 0 ? text : unescaped(text);
  if (plain === undefined) return true;
  const usual = folded(plain);
  return usual !== text && (signs.inText(usual, TELLING) & TELLING) !== 0;
}
