import type { MatchedSpan, SearchedField, TextMatch } from '../contracts/search.js';
import { visibleText, wordsIn } from './log-text.js';
import { snippetOf } from './snippet.js';
import { testsOf, type TextQuery } from './text-query.js';

/** A searched field of a run or of one of its spans. */
export interface SearchedText {
  readonly span: MatchedSpan | null;
  readonly field: SearchedField;
  /** As stored: a text, or JSON. */
  readonly text: string;
}

/** Decides whether a run matches a query, from its texts one after the other. */
export class RunMatcher {
  readonly #query: TextQuery;
  readonly #wanted: ReturnType<typeof testsOf>;
  readonly #unwanted: ReturnType<typeof testsOf>;
  readonly #met = new Set<number>();
  #isExcluded = false;
  #best: { readonly text: SearchedText; readonly met: number } | null = null;

  constructor(query: TextQuery) {
    this.#query = query;
    this.#wanted = testsOf(query);
    this.#unwanted = testsOf(query.without);
  }

  /** Whether more texts cannot change the result. */
  get isDecided(): boolean {
    return this.#isExcluded || (this.#unwanted.length === 0 && this.#met.size === this.#wanted.length);
  }

  get matches(): boolean {
    return !this.#isExcluded && this.#met.size === this.#wanted.length;
  }

  /** Where the most conditions are met; null if there is no such text. */
  get match(): TextMatch | null {
    return this.#best === null ? null : matchIn(this.#best.text, this.#query);
  }

  /** @returns whether the text meets any condition */
  add(text: SearchedText): boolean {
    const visible = visibleText(text.text);
    const searched = { words: wordsIn(visible), texts: [visible] };
    this.#isExcluded ||= this.#unwanted.some((isMet) => isMet(searched));
    let met = 0;
    for (const [i, isMet] of this.#wanted.entries())
      if (isMet(searched)) {
        this.#met.add(i);
        met++;
      }
    if (met > (this.#best?.met ?? 0)) this.#best = { text, met };
    return met > 0;
  }
}

/** Where a query is found in a text. */
function matchIn({ span, field, text }: SearchedText, query: TextQuery): TextMatch {
  return { span, field, snippet: snippetOf(visibleText(text), query) };
}
