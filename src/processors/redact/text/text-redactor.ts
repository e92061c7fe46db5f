import { folded } from './folding.js';
import type { Finder, Match } from './finder.js';

/** Of whatever is built in, something is found only in a text that has one of these. */
const TELLING = /[\d@]|%40|::|eyJ|----|asic |ASIC |[-_][A-Za-z_-]{8}|[A-Z]{8}|AIza|[^\x20-\x7e\s]/;

interface Found extends Match {
  readonly finder: Finder;
}

/** Replaces in texts what any of some finders finds. */
export class TextRedactor {
  readonly #finders: readonly Finder[];
  readonly #count: (pattern: string) => void;
  /** Whether all of them are built in. */
  readonly #areOwn: boolean;

  /** @param finders where two overlap, the first has its name there @param count is told of each replacement */
  constructor(finders: readonly Finder[], count: (pattern: string) => void) {
    this.#finders = finders;
    this.#count = count;
    this.#areOwn = finders.every(({ hints }) => hints !== undefined);
  }

  get isIdle(): boolean {
    return this.#finders.length === 0;
  }

  /** Whether anything is found in it. */
  finds(text: string): boolean {
    if (this.#areOwn && !TELLING.test(text)) return false;
    const plain = folded(text);
    return this.#finders.some((finder) => finder.find(plain).length > 0);
  }

  /**
   * @param before what stands before the text for its readers, such as the key of a value: `phone: `
   * @returns the same text where nothing is found
   */
  redact(text: string, before = ''): string {
    // Ids, words and short numbers have nothing in them.
    if (before === '' && this.#areOwn && !TELLING.test(text)) return text;
    const plain = folded(before === '' ? text : before + text);
    const found: Found[] = [];
    for (const finder of this.#finders) {
      if (finder.hints?.every((hint) => !hint.test(plain)) === true) continue;
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

/** In their order, those that overlap as one: nothing of either stays. */
function merged(found: readonly Found[]): Found[] {
  const parts: Found[] = [];
  // Sorting keeps the order of finders for those that begin together.
  for (const match of [...found].sort((a, b) => a.start - b.start)) {
    const before = parts.at(-1);
    if (before === undefined || match.start >= before.end) parts.push(match);
    else if (match.end > before.end) parts[parts.length - 1] = { ...before, end: match.end };
  }
  return parts;
}
