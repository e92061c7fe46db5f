import { folded } from './folding.js';
import type { Finder, Match } from './finder.js';
import { FOLDABLE, Signs } from './signs.js';

interface Found extends Match {
  readonly finder: Finder;
}

/** Maximum number of finders with their own bit; the other bits are for the remaining finders and {@link FOLDABLE}. */
const MOST_SIGNED = 28;

/** Replaces the matches of several finders in texts. */
export class TextRedactor {
  /** Finders with the bits of their signs. */
  readonly #finders: readonly (readonly [finder: Finder, bit: number])[];
  readonly #signs: Signs;
  readonly #count: (pattern: string) => void;
  /** The bit of finders without signs, which always run. */
  readonly #always: number;

  /** @param finders if two overlap, the first one's name is used @param count receives each replacement */
  constructor(finders: readonly Finder[], count: (pattern: string) => void) {
    const signed = finders.filter(({ signs }) => signs !== undefined).slice(0, MOST_SIGNED);
    this.#signs = new Signs(signed.map(({ signs = [] }) => signs));
    const others = 1 << signed.length;
    this.#finders = finders.map((finder) => [
      finder,
      signed.includes(finder) ? 1 << signed.indexOf(finder) : others,
    ]);
    this.#always = signed.length < finders.length ? others : 0;
    this.#count = count;
  }

  /** Whether any finder matches the text. */
  finds(text: string): boolean {
    const { plain, bits } = this.#look(text);
    return this.#finders.some(([finder, bit]) => (bits & bit) !== 0 && finder.find(plain).length > 0);
  }

  /** The text as finders receive it, and the bits of finders that may match. */
  #look(text: string): { readonly plain: string; readonly bits: number } {
    const bits = this.#signs.inText(text, 0) | this.#always;
    if ((bits & FOLDABLE) === 0) return { plain: text, bits };
    const plain = folded(text);
    return { plain, bits: this.#signs.inText(plain, 0) | this.#always };
  }

  /**
   * @param before context of the text, such as the key of a value: `phone: `
   * @returns the same text if nothing is found
   */
  redact(text: string, before = ''): string {
    const { plain, bits } = this.#look(before === '' ? text : before + text);
    // Nearly all texts end here.
    if (bits === 0) return text;
    const found: Found[] = [];
    for (const [finder, bit] of this.#finders) {
      if ((bits & bit) === 0) continue;
      for (const { start, end } of finder.find(plain))
        if (end > before.length)
          found.push({ start: Math.max(0, start - before.length), end: end - before.length, finder });
    }
    if (found.length === 0) return text;
    let kept = '';
    let at = 0;
    for (const { start, end, finder } of merged(found)) {
      kept += text.slice(at, start) + finder.replacement;
      at = end;
      this.#count(finder.name);
    }
    return kept + text.slice(at);
  }
}

/** Merges overlapping matches in order, so that no part of either remains. */
function merged(found: readonly Found[]): Found[] {
  const parts: Found[] = [];
  // Sorting is stable, so matches that begin together stay in the order of finders.
  for (const match of [...found].sort((a, b) => a.start - b.start)) {
    const before = parts.at(-1);
    if (before === undefined || match.start >= before.end) parts.push(match);
    else if (match.end > before.end) parts[parts.length - 1] = { ...before, end: match.end };
  }
  return parts;
}
