/** Characters of what agents send, most often first (recorded runs of a dozen frameworks); what is not here is rare. */
const COMMON = 'e tanosi"rlpc._dgum0:14,h73f2b-5\\6y/89kv';
const ASCII = 128;

/** Where a literal is in a text. */
export interface Place {
  readonly at: number;
  /** Place of the literal in the list of them. */
  readonly which: number;
}

interface Candidate {
  readonly literal: string;
  readonly which: number;
  /** How far behind its beginning the second of its two rarest neighbours stands. */
  readonly offset: number;
}

/**
 * Finds any of many literals in a text with one look at each pair of characters, however many literals there are: each is known by the
 * two neighbours in it that are the rarest in texts.
 */
export class Literals {
  /** By both codes: which list of candidates; 0 for none. */
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
   * Whether one of the literals that have their two rarest neighbours at `at - 1` and `at` is there, and is what is looked for.
   *
   * @param list what the table says of both
   * @param isIt is told where a literal begins
   */
  some(text: string, at: number, list: number, isIt: (place: Place) => boolean): boolean {
    const candidates = this.#lists[list] ?? [];
    for (const { literal, which, offset } of candidates)
      if (text.startsWith(literal, at - offset) && isIt({ at: at - offset, which })) return true;
    return false;
  }

  /** All places of all literals, in no order. */
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

/** Of two neighbours in a literal that are as rare as any: the place of the second. */
export function rarestPair(literal: string): number {
  let best = 1;
  for (let at = 2; at < literal.length; at++)
    if (frequency(literal, at) < frequency(literal, best)) best = at;
  return best;
}

/** Of both of two neighbours together: the second of them stands at `at`. */
function frequency(literal: string, at: number): number {
  return frequencyOf(literal.slice(at - 1, at + 1));
}

/** How often two neighbours stand in texts, beside others: roughly. */
export function frequencyOf(both: string): number {
  const of = (character: string) => {
    const rank = COMMON.indexOf(character);
    return 1 / ((rank === -1 ? 2 * COMMON.length : rank) + 2);
  };
  return of(both.charAt(0)) * of(both.charAt(1));
}
