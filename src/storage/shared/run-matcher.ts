import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { MatchedSpan, SearchedField, Snippet, TextMatch } from '../contracts/search.js';
import { tokensOf, visibleText, wordsIn } from './log-text.js';
import { snippetOf } from './snippet.js';
import { testsOf, type TextConditions, type TextQuery } from './text-query.js';

/** A searched field of a run or of one of its spans. */
export interface SearchedText {
  readonly span: MatchedSpan | null;
  readonly field: SearchedField;
  /** As stored: a text, or JSON. */
  readonly text: string;
}

/** Cutting a text of 16 MiB into words takes a second: other requests get their turn between parts of this length. */
const PART = 65_536;
/** Parts overlap by at least this much: the longest query has half as many characters. */
const OVERLAP = 2048;
const SLICE_MS = 4;
/** Characters between words, where a text can be cut. */
const BREAK = /[\s、。，！？；：「」]/g;

/** Decides whether a run matches a query, from its texts one after the other. */
export class RunMatcher {
  readonly #query: TextQuery;
  readonly #wanted: ReturnType<typeof testsOf>;
  readonly #unwanted: ReturnType<typeof testsOf>;
  /** Tokens of the longest phrase. */
  readonly #longest: number;
  readonly #met = new Set<number>();
  #isExcluded = false;
  #best: { readonly text: SearchedText; readonly met: number; readonly snippet: Snippet } | null = null;
  #sliceEnd = performance.now() + SLICE_MS;

  constructor(query: TextQuery) {
    this.#query = query;
    this.#wanted = testsOf(query);
    this.#unwanted = testsOf(query.without);
    this.#longest = Math.max(longestOf(query), longestOf(query.without));
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
    if (this.#best === null) return null;
    const { text, snippet } = this.#best;
    return { span: text.span, field: text.field, snippet };
  }

  /** Yields to other work during long texts. */
  async add(text: SearchedText): Promise<void> {
    const visible = visibleText(text.text);
    const met = new Set<number>();
    for (const part of partsOf(visible, this.#longest)) {
      const searched = { words: wordsIn(part), texts: [part] };
      this.#isExcluded ||= this.#unwanted.some((isMet) => isMet(searched));
      for (const [i, isMet] of this.#wanted.entries()) if (!met.has(i) && isMet(searched)) met.add(i);
      if (this.#isExcluded) return;
      if (performance.now() < this.#sliceEnd) continue;
      await yieldToOthers();
      this.#sliceEnd = performance.now() + SLICE_MS;
    }
    for (const i of met) this.#met.add(i);
    if (met.size > (this.#best?.met ?? 0))
      this.#best = { text, met: met.size, snippet: snippetOf(visible, this.#query) };
  }
}

function longestOf({ phrases, prefixes }: TextConditions): number {
  return [...phrases, ...prefixes].reduce((most, { length }) => Math.max(most, length), 0);
}

/** Parts of a text that overlap, so that each phrase is whole in one of them. @param tokens of the longest phrase */
function* partsOf(text: string, tokens: number): Generator<string> {
  for (let [from, length] = [0, PART]; ;) {
    const end = breakAt(text, from + length);
    const next = end === text.length ? end : overlapBefore(text, from, end, tokens);
    if (next === null) {
      length *= 2;
      continue;
    }
    yield text.slice(from, end);
    if (end === text.length) return;
    [from, length] = [next, PART];
  }
}

/** The first place from a position on where no word is cut. */
function breakAt(text: string, from: number): number {
  if (from >= text.length) return text.length;
  BREAK.lastIndex = from;
  return BREAK.exec(text)?.index ?? text.length;
}

/** The start of a part that overlaps the one before by some tokens; null if it would begin where that one begins. */
function overlapBefore(text: string, from: number, end: number, tokens: number): number | null {
  for (let length = OVERLAP; end - length > from; length *= 2) {
    const start = breakAt(text, end - length);
    if (start > from && end - start >= OVERLAP / 2 && tokensOf(text.slice(start, end)).length >= tokens)
      return start;
  }
  return null;
}
