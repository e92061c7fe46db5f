import { ByteSource, TextSource, type Source } from './source.js';
import { beginsFoldable, isFoldable, mayBeginFoldable } from './folding.js';

const ASCII = 128;
const BYTES = 256;

/** Flag in the result: the text contains foldable characters (see `folded`). */
export const FOLDABLE = 1 << 30;

/** Two adjacent characters that may belong to a match, and a closer check of the text around them. */
export interface Sign {
  /** Encoded by {@link pairs}. */
  readonly pairs: readonly number[];
  /** Codes allowed before the pair; absent: any. 0 stands for the start of the text and for non-ASCII. */
  readonly before?: readonly number[];
  /** Codes allowed after the pair: at the first, third and fifth character. */
  readonly behind?: readonly number[];
  readonly third?: readonly number[];
  readonly fifth?: readonly number[];
  /**
   * Must be true for every match, and may be true elsewhere. Reads only a bounded number of characters, because it may run for
   * every second character.
   *
   * @param source in bytes, any byte may precede or follow a match, so word boundaries are unknown
   * @param at position of the second character of the pair
   */
  isThere(source: Source, at: number): boolean;
}

interface Looked {
  readonly bit: number;
  readonly sign: Sign;
}

/** Number of characters scanned before their candidates are checked. */
const PIECE = 4096;
/** Shared buffer of candidate positions; safe because the check is synchronous. */
const PLACES = new Int32Array(PIECE);

/**
 * Searches for the signs of several finders in one pass. A table of adjacent characters rules out nearly every position. The scan
 * collects candidates without a branch on the pair, which avoids mispredictions: all signs together take two nanoseconds a character.
 */
export class Signs {
  /** By the codes of two adjacent characters, up to 255: 1 if a closer check is needed. */
  readonly #isSeen = new Uint8Array(BYTES * BYTES);
  /** Sign list by the codes of two adjacent ASCII characters; 0 for none. */
  readonly #table = new Uint16Array(ASCII * ASCII);
  readonly #lists: (readonly Looked[])[] = [[]];
  /** For each list and each code of a neighbouring character: a bit for each sign that allows it. */
  readonly #mayBeBefore: Int32Array;
  readonly #mayBeBehind: Int32Array;
  readonly #mayBeThird: Int32Array;
  readonly #mayBeFifth: Int32Array;

  /** @param sets the signs of each finder: a match of the first sets bit 1, of the second 2, of the third 4. At most 30 */
  constructor(sets: readonly (readonly Sign[])[]) {
    const byPair = new Map<number, number[]>();
    const all = sets.flatMap((signs, set) => signs.map((sign) => ({ bit: 1 << set, sign })));
    all.forEach(({ sign }, which) => {
      for (const one of new Set(sign.pairs)) byPair.set(one, [...(byPair.get(one) ?? []), which]);
    });
    const known = new Map<string, number>();
    for (const [one, signs] of byPair) {
      const name = signs.join();
      const list = known.get(name) ?? this.#lists.push(signs.flatMap((which) => all[which] ?? [])) - 1;
      known.set(name, list);
      this.#table[one] = list;
    }
    this.#mayBeBefore = this.#allowed(({ before }) => before);
    this.#mayBeBehind = this.#allowed(({ behind }) => behind);
    this.#mayBeThird = this.#allowed(({ third }) => third);
    this.#mayBeFifth = this.#allowed(({ fifth }) => fifth);
    for (let before = 0; before < BYTES; before++)
      for (let code = 0; code < BYTES; code++)
        this.#isSeen[before * BYTES + code] = this.#mayBe(before, code) ? 1 : 0;
  }

  #allowed(codesOf: (sign: Sign) => readonly number[] | undefined): Int32Array {
    const table = new Int32Array(this.#lists.length * ASCII);
    this.#lists.forEach((signs, list) => {
      signs.forEach(({ sign }, place) => {
        for (const code of codesOf(sign) ?? ANY) {
          const cell = list * ASCII + code;
          table[cell] = (table[cell] ?? 0) | bitOf(place);
        }
      });
    });
    return table;
  }

  #mayBe(before: number, code: number): boolean {
    return code < ASCII ? this.#table[inAscii(before) * ASCII + code] !== 0 : mayBeginFoldable(before, code);
  }

  /** @param enough ends the search once any of these bits is found @returns the found bits, possibly with {@link FOLDABLE} */
  inText(text: string, enough: number): number {
    // Local variables are faster in the engine.
    const isSeen = this.#isSeen;
    const places = PLACES;
    let source: Source | undefined;
    let [found, before] = [0, 0];
    for (let from = 0; from < text.length; from += PIECE) {
      const to = Math.min(text.length, from + PIECE);
      let count = 0;
      for (let at = from; at < to; at++) {
        const code = text.charCodeAt(at);
        if (code < ASCII) {
          places[count] = at;
          count += isSeen[before * BYTES + code] ?? 0;
          before = code;
        } else {
          before = 0;
          if (isFoldable(code)) found |= FOLDABLE;
        }
      }
      for (let place = 0; place < count; place++) {
        const at = places[place] ?? 0;
        const list = this.#list(characterAt(text, at - 1), characterAt(text, at));
        const neighbours = this.#neighbours(list, characterAt(text, at - 2), characterAt(text, at + 1));
        if (neighbours === 0) continue;
        const likely = neighbours & this.#behind(list, characterAt(text, at + 3), characterAt(text, at + 5));
        if (likely === 0) continue;
        source ??= new TextSource(text);
        found = this.#look(source, at, list, likely, found);
        if ((found & enough) !== 0) return found;
      }
    }
    return found;
  }

  /** The same for bytes. Repeated code, because a call for each character would take longer than everything else. */
  inBytes(bytes: Uint8Array, enough: number): number {
    const isSeen = this.#isSeen;
    const places = PLACES;
    let source: Source | undefined;
    let [found, before] = [0, 0];
    for (let from = 0; from < bytes.length; from += PIECE) {
      const to = Math.min(bytes.length, from + PIECE);
      let count = 0;
      let at = from;
      // Unrolling four steps takes two thirds of the time.
      for (const last = to - 3; at < last; at += 4) {
        const first = bytes[at] ?? 0;
        places[count] = at;
        count += isSeen[before * BYTES + first] ?? 0;
        const second = bytes[at + 1] ?? 0;
        places[count] = at + 1;
        count += isSeen[first * BYTES + second] ?? 0;
        const third = bytes[at + 2] ?? 0;
        places[count] = at + 2;
        count += isSeen[second * BYTES + third] ?? 0;
        before = bytes[at + 3] ?? 0;
        places[count] = at + 3;
        count += isSeen[third * BYTES + before] ?? 0;
      }
      for (; at < to; at++) {
        const code = bytes[at] ?? 0;
        places[count] = at;
        count += isSeen[before * BYTES + code] ?? 0;
        before = code;
      }
      for (let place = 0; place < count; place++) {
        const at = places[place] ?? 0;
        const code = bytes[at] ?? 0;
        if (code >= ASCII) {
          if (beginsFoldable(bytes, at - 1)) found |= FOLDABLE;
          continue;
        }
        const list = this.#list(byteIn(bytes, at - 1), code);
        const neighbours = this.#neighbours(list, byteIn(bytes, at - 2), byteIn(bytes, at + 1));
        if (neighbours === 0) continue;
        const likely = neighbours & this.#behind(list, byteIn(bytes, at + 3), byteIn(bytes, at + 5));
        if (likely === 0) continue;
        source ??= new ByteSource(bytes);
        found = this.#look(source, at, list, likely, found);
        if ((found & enough) !== 0) return found;
      }
    }
    return found;
  }

  /** The sign list of a pair; 0 for none. */
  #list(before: number, code: number): number {
    return this.#table[inAscii(before) * ASCII + code] ?? 0;
  }

  /**
   * Bits of the signs in a list that the surrounding characters allow. Takes codes instead of a source, because it runs for every
   * number of a text and nearly always returns none.
   */
  #neighbours(list: number, before: number, behind: number): number {
    const row = list * ASCII;
    return (this.#mayBeBehind[row + inAscii(behind)] ?? 0) & (this.#mayBeBefore[row + inAscii(before)] ?? 0);
  }

  #behind(list: number, third: number, fifth: number): number {
    const row = list * ASCII;
    return (this.#mayBeThird[row + inAscii(third)] ?? 0) & (this.#mayBeFifth[row + inAscii(fifth)] ?? 0);
  }

  /** @param likely the bits of the signs to look for */
  #look(source: Source, at: number, list: number, likely: number, found: number): number {
    const signs = this.#lists[list] ?? [];
    let all = found;
    for (let place = 0; place < signs.length; place++) {
      const looked = signs[place];
      if (looked === undefined || (likely & bitOf(place)) === 0 || (all & looked.bit) !== 0) continue;
      if (looked.sign.isThere(source, at)) all |= looked.bit;
    }
    return all;
  }
}

/** The bit of a sign by its position in a list; all signs after the 31st share one. */
function bitOf(place: number): number {
  return 1 << Math.min(place, 31);
}

/** 0 if out of range: `NaN` would change the engine's number type and be slow. */
function characterAt(text: string, at: number): number {
  return at >= 0 && at < text.length ? text.charCodeAt(at) : 0;
}

/** 0 if out of range, like `characterAt`. */
function byteIn(bytes: Uint8Array, at: number): number {
  return at >= 0 && at < bytes.length ? (bytes[at] ?? 0) : 0;
}

/** 0 for non-ASCII, and out of range. */
function inAscii(code: number): number {
  return code >= 0 && code < ASCII ? code : 0;
}

/** All pairs of a first and a second character. */
export function pairs(first: Iterable<number>, second: Iterable<number>): number[] {
  const behind = [...second];
  return [...first].flatMap((before) => behind.map((code) => before * ASCII + code));
}

/** The codes of characters. */
export function codes(characters: string): number[] {
  return Array.from(characters, (character) => character.charCodeAt(0));
}

/** The codes of a letter in both cases. */
export function either(letter: string): number[] {
  return codes(`${letter.toLowerCase()}${letter.toUpperCase()}`);
}

export const DIGITS = codes('0123456789');
/** Any code before a pair; 0 stands for the start of the text and for non-ASCII. */
export const ANY = [...Array(ASCII).keys()];
const NO_DIGIT = ANY.filter((code) => !DIGITS.includes(code));
/** The start of a number. */
export const BEGINS_NUMBER = pairs(NO_DIGIT, DIGITS);

/**
 * A sign checked by a pattern.
 *
 * @param pattern sticky, with a bounded length
 * @param back distance from its start to the second character of the pair
 */
export function patternSign(where: Omit<Sign, 'isThere'>, pattern: RegExp, back = 0): Sign {
  return {
    ...where,
    isThere: ({ text }, at) => {
      pattern.lastIndex = at - back;
      return pattern.test(text);
    },
  };
}

/** Protobuf bytes before the length of a text: the tag of a value, of a name or of a message; or the first byte of a length. */
const BEFORE_LENGTH: ReadonlySet<number> = new Set([0x0a, 0x12, 0x2a]);

/**
 * Possible starts of a number that appears to start at a position: there, or one digit later if the length byte of the text equals
 * the code of a digit.
 */
export function beginnings(source: Source, at: number): readonly number[] {
  const before = source.code(at - 1);
  return BEFORE_LENGTH.has(before) || before >= ASCII ? [at, at + 1] : [at];
}
