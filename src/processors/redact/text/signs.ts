import { ByteSource, TextSource, type Source } from './source.js';
import { beginsFoldable, isFoldable, mayBeginFoldable } from './folding.js';

const ASCII = 128;
const BYTES = 256;

/** Told beside what was found: the text has characters that are read as others. */
export const FOLDABLE = 1 << 30;

/** Two neighbours at which something may be found, and a closer look at what stands around them. */
export interface Sign {
  /** As {@link pairs} gives them. */
  readonly pairs: readonly number[];
  /** The codes of characters that may stand before both; absent: any. 0 is the beginning, and what is not of ASCII. */
  readonly before?: readonly number[];
  /** Likewise behind both. */
  readonly behind?: readonly number[];
  /**
   * Must be true wherever something is found, and may be true elsewhere. It looks no further than a fixed number of characters, as it may be
   * asked at every second one.
   *
   * @param source bytes have whatever stands before and behind: where a word ends is not to be seen
   * @param at where the second of the neighbours stands
   */
  isThere(source: Source, at: number): boolean;
}

interface Looked {
  readonly bit: number;
  readonly sign: Sign;
}

/** As many characters are looked at before what was seen of them is. */
const PIECE = 4096;
/** Where neighbours were seen that may be of a sign: nobody else runs while they are looked at. */
const places = new Int32Array(PIECE);

/**
 * Looks for the signs of several things in one pass. A table says by two neighbours whether anything can be there at all, which it cannot
 * nearly everywhere. The pass itself decides nothing, so that the processor has nothing to guess wrong: all signs together take two
 * nanoseconds a character.
 */
export class Signs {
  /** By the codes of two neighbours, up to 255: 1 where there is more to look at. */
  readonly #isSeen = new Uint8Array(BYTES * BYTES);
  /** By the codes of two neighbours of ASCII: which list of signs; 0 for none. */
  readonly #table = new Uint16Array(ASCII * ASCII);
  readonly #lists: (readonly Looked[])[] = [[]];
  /** By list, and the code of the character before both, or behind both: whether one of its signs may be there. */
  readonly #mayPrecede: Uint8Array;
  readonly #mayFollow: Uint8Array;

  /** @param sets the signs of each thing: what is found of the first is told as 1, of the second as 2, of the third as 4. At most 30 */
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
    this.#mayPrecede = this.#allowed(({ before }) => before);
    this.#mayFollow = this.#allowed(({ behind }) => behind);
    for (let before = 0; before < BYTES; before++)
      for (let code = 0; code < BYTES; code++)
        this.#isSeen[before * BYTES + code] = this.#mayBe(before, code) ? 1 : 0;
  }

  #allowed(codesOf: (sign: Sign) => readonly number[] | undefined): Uint8Array {
    const table = new Uint8Array(this.#lists.length * ASCII);
    this.#lists.forEach((signs, list) => {
      for (const { sign } of signs) for (const code of codesOf(sign) ?? ANY) table[list * ASCII + code] = 1;
    });
    return table;
  }

  #mayBe(before: number, code: number): boolean {
    return code < ASCII ? this.#table[inAscii(before) * ASCII + code] !== 0 : mayBeginFoldable(before, code);
  }

  /** @param enough ends the search once any of these is found @returns what was found, and maybe {@link FOLDABLE} */
  inText(text: string, enough: number): number {
    const isSeen = this.#isSeen;
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
        const list = this.#list(
          characterAt(text, at - 2),
          characterAt(text, at - 1),
          characterAt(text, at),
          characterAt(text, at + 1),
        );
        if (list === 0) continue;
        source ??= new TextSource(text);
        found = this.#look(source, at, list, found);
        if ((found & enough) !== 0) return found;
      }
    }
    return found;
  }

  /** The same for bytes: twice the same, as a call for each character would take longer than all the rest. */
  inBytes(bytes: Uint8Array, enough: number): number {
    const isSeen = this.#isSeen;
    let source: Source | undefined;
    let [found, before] = [0, 0];
    for (let from = 0; from < bytes.length; from += PIECE) {
      const to = Math.min(bytes.length, from + PIECE);
      let count = 0;
      for (let at = from; at < to; at++) {
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
        const list = this.#list(byteIn(bytes, at - 2), byteIn(bytes, at - 1), code, byteIn(bytes, at + 1));
        if (list === 0) continue;
        source ??= new ByteSource(bytes);
        found = this.#look(source, at, list, found);
        if ((found & enough) !== 0) return found;
      }
    }
    return found;
  }

  /**
   * Of which list two neighbours are, if what stands around them can be there; 0 for none. Four codes in place of a source: it is asked for
   * every number of a text, and nearly always answers no.
   */
  #list(beforeBoth: number, before: number, code: number, behind: number): number {
    const list = this.#table[inAscii(before) * ASCII + code] ?? 0;
    const isLikely =
      (this.#mayFollow[list * ASCII + inAscii(behind)] ?? 0) &
      (this.#mayPrecede[list * ASCII + inAscii(beforeBoth)] ?? 0);
    return isLikely * list;
  }

  #look(source: Source, at: number, list: number, found: number): number {
    let all = found;
    for (const { bit, sign } of this.#lists[list] ?? [])
      if ((all & bit) === 0 && sign.isThere(source, at)) all |= bit;
    return all;
  }
}

/** 0 where there is none: not a number would be of another kind for the engine, and slow. */
function characterAt(text: string, at: number): number {
  return at >= 0 && at < text.length ? text.charCodeAt(at) : 0;
}

/** Likewise. */
function byteIn(bytes: Uint8Array, at: number): number {
  return at >= 0 && at < bytes.length ? (bytes[at] ?? 0) : 0;
}

/** 0 for what is not of ASCII, and where there is nothing. */
function inAscii(code: number): number {
  return code >= 0 && code < ASCII ? code : 0;
}

/** All neighbours of one of these characters and one of those. */
export function pairs(first: Iterable<number>, second: Iterable<number>): number[] {
  const behind = [...second];
  return [...first].flatMap((before) => behind.map((code) => before * ASCII + code));
}

/** The codes of characters. */
export function codes(characters: string): number[] {
  return Array.from(characters, (character) => character.charCodeAt(0));
}

/** The codes of a letter, small and large. */
export function either(letter: string): number[] {
  return codes(`${letter.toLowerCase()}${letter.toUpperCase()}`);
}

export const DIGITS = codes('0123456789');
/** Whatever may stand before something; 0 also stands for the beginning, and for what is not of ASCII. */
export const ANY = [...Array(ASCII).keys()];
const NO_DIGIT = ANY.filter((code) => !DIGITS.includes(code));
/** Where a number begins. */
export const BEGINS_NUMBER = pairs(NO_DIGIT, DIGITS);

/** A sign that a pattern knows. @param pattern sticky, and bounded @param back how far before the second neighbour it begins */
export function patternSign(where: Omit<Sign, 'isThere'>, pattern: RegExp, back = 0): Sign {
  return {
    ...where,
    isThere: ({ text }, at) => {
      pattern.lastIndex = at - back;
      return pattern.test(text);
    },
  };
}

/** A byte of protobuf that stands before the length of a text: the field of a value, of a name, of a message; or the length's first byte. */
const BEFORE_LENGTH: ReadonlySet<number> = new Set([0x0a, 0x12, 0x2a]);

/**
 * Where a number can begin that seems to begin at a place: there, or a digit later, where the length of a text happens to be the code of a
 * digit.
 */
export function beginnings(source: Source, at: number): readonly number[] {
  const before = source.code(at - 1);
  return BEFORE_LENGTH.has(before) || before >= ASCII ? [at, at + 1] : [at];
}
