import { invariant } from '../../signal/checked.js';
import { pairsOf, piecesOf } from './log-text.js';

/**
 * The query language of all full-text searches: words, "phrases", `prefix*`, and `-` before a word or a phrase for texts without it.
 * Queries are cut into tokens like the texts (`log-text.ts`).
 */

/** A word or phrase with its sign (first group): the text between quotes (second), or without spaces and quotes (third). */
const PART = /((?<!\S)-(?=["\p{L}\p{N}]))?(?:"([^"]*)"|"?([^"\s]+))/gu;
const IS_PREFIX = /[\p{L}\p{N}]\*$/u;

/** Conditions on a text. */
export interface TextConditions {
  /** Tokens that must be adjacent; most phrases have one. */
  readonly phrases: readonly (readonly string[])[];
  /** The same, with the beginning of a token as the last one. */
  readonly prefixes: readonly (readonly string[])[];
  /** Texts without letters and digits, or with a single character of a script without spaces, that occur anywhere. */
  readonly literals: readonly string[];
}

export const NO_CONDITIONS: TextConditions = { phrases: [], prefixes: [], literals: [] };

/** A query: all of its conditions must be met, and none of `without`. */
export interface TextQuery extends TextConditions {
  readonly without: TextConditions;
}

/** @returns null for a text that contains nothing searchable; no conditions for a blank one */
export function parseTextQuery(query: string): TextQuery | null {
  const [wanted, without] = [new QueryParts(), new QueryParts()];
  for (const [, sign, quoted, plain] of query.matchAll(PART)) {
    const parts = sign === undefined ? wanted : without;
    if (quoted === undefined) parts.add(invariant(plain, 'text between quotes'), false);
    else parts.add(quoted.trim(), true);
  }
  if (wanted.isEmpty && without.isEmpty && query.trim() !== '') return null;
  const { phrases, prefixes, literals } = wanted;
  return { phrases, prefixes, literals, without };
}

class QueryParts implements TextConditions {
  readonly phrases: string[][] = [];
  readonly prefixes: string[][] = [];
  readonly literals: string[] = [];

  get isEmpty(): boolean {
    return this.#size === 0;
  }

  get #size(): number {
    return this.phrases.length + this.prefixes.length + this.literals.length;
  }

  /** @param isPhrase whether all tokens must be adjacent */
  add(text: string, isPhrase: boolean): void {
    const size = this.#size;
    let phrase: string[] = [];
    let isWord = false;
    const end = (list: string[][]): void => {
      if (phrase.length > 0) list.push(phrase);
      phrase = [];
    };
    for (const [piece, spaceless, symbols] of piecesOf(text)) {
      if (!isPhrase) end(this.phrases);
      const isSingle = spaceless !== undefined && Array.from(spaceless).length === 1;
      isWord = spaceless === undefined && symbols === undefined;
      if (isSingle || symbols !== undefined) {
        end(this.phrases);
        // Text may have the same emoji without a variation selector.
        this.literals.push(piece.replace(/\ufe0f$/, ''));
      } else phrase.push(...(spaceless === undefined ? [piece] : pairsOf(spaceless)));
    }
    end(isWord && IS_PREFIX.test(text) ? this.prefixes : this.phrases);
    if (this.#size === size && text !== '') this.literals.push(text);
  }
}

/** A text that is searched. */
interface SearchedWords {
  /** Its tokens in the form of `normal` of `SearchedTexts`. */
  readonly words: string;
  /** The text itself, for literals. */
  readonly texts: readonly string[];
}

/** Whether a text meets a condition. */
type TextTest = (searched: SearchedWords) => boolean;

/** A test for each condition, in the order of {@link TextConditions}. */
export function testsOf({ phrases, prefixes, literals }: TextConditions): TextTest[] {
  const hasWords = (tokens: string): TextTest => {
    return ({ words }) => words.includes(tokens);
  };
  return [
    ...phrases.map((tokens) => hasWords(` ${tokens.join(' ')} `)),
    ...prefixes.map((tokens) => hasWords(` ${tokens.join(' ')}`)),
    ...literals.map((literal): TextTest => {
      return ({ words, texts }) => words.includes(literal) || texts.some((text) => text.includes(literal));
    }),
  ];
}
