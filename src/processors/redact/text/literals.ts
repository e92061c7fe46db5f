/** The most frequent characters in agent data, in order (recorded runs of a dozen frameworks); all others are rare. */
const COMMON = 'e tanosi"rlpc._dgum0:14,h73f2b-5\\6y/89kv';
const ASCII = 128;

/** Position of a literal in a text. */
export interface Place {
  readonly at: number;
  /** Index of the literal. */
  readonly which: number;
}

interface Candidate {
  readonly literal: string;
  readonly which: number;
  /** Offset of the second character of the literal's rarest pair. */
  readonly offset: number;
}

/**
 * Finds many literals in one pass with one table look-up for each pair of characters, independent of their number. Each literal is
 * indexed by its rarest pair of adjacent characters.
 */
export class Literals {
  /** Candidate list by both character codes; 0 for none. */
  readonly #table = new Uint8Array(ASCII * ASCII);
  readonly #lists: Candidate[][] = [[]];

  /** @param literals each of two or more characters of ASCII */
  constructor(literals: readonly string[]) {
    literals.forEach((literal, which) => {
      const offset = rarestPair(literal);
      const pair = literal.charCodeAt(offset - 1) * ASCII + literal.charCodeAt(offset);
      if (this.#table[pair] === 0) this.#table[pair] = this.#lists.push([]) - 1;
      this.#lists[this.#table[pair] ?? 0]?.push({ literal, which, offset });
    });
  }

  /**
   * Whether a literal whose rarest pair is at `at - 1` and `at` is in the text and passes a check.
   *
   * @param list the table entry of the pair
   * @param isIt receives the position of a literal
   */
  some(text: string, at: number, list: number, isIt: (place: Place) => boolean): boolean {
    const candidates = this.#lists[list] ?? [];
    for (const { literal, which, offset } of candidates)
      if (text.startsWith(literal, at - offset) && isIt({ at: at - offset, which })) return true;
    return false;
  }

  /** All places of all literals, in any order. */
  in(text: string): Place[] {
    const places: Place[] = [];
    const take = (place: Place) => {
      places.push(place);
      return false;
    };
    let before = 0;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code >= ASCII) before = 0;
      else {
        const list = this.#table[before * ASCII + code] ?? 0;
        if (list !== 0) this.some(text, at, list, take);
        before = code;
      }
    }
    return places;
  }
}

/** The position of the second character of the rarest pair in a literal. */
export function rarestPair(literal: string): number {
  let best = 1;
  for (let at = 2; at < literal.length; at++)
    if (frequency(literal, at) < frequency(literal, best)) best = at;
  return best;
}

/** Frequency of the pair whose second character is at `at`. */
function frequency(literal: string, at: number): number {
  return frequencyOf(literal.slice(at - 1, at + 1));
}

/** Approximate relative frequency of a pair in texts. */
export function frequencyOf(both: string): number {
  const of = (character: string) => {
    const rank = COMMON.indexOf(character);
    return 1 / ((rank === -1 ? 2 * COMMON.length : rank) + 2);
  };
  return of(both.charAt(0)) * of(both.charAt(1));
}
