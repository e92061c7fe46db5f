import { isAscii, PAIRED_CHARACTER, tokensOf, withoutTerminalSequences } from '../../shared/log-text.js';
import { isFolded } from '../../shared/needles.js';
import type { TextConditions } from '../../shared/text-query.js';

/**
 * Hashes the terms of texts as they are stored: tokens as `log-text.ts` cuts them, and symbols beyond ASCII one by one. Works on bytes,
 * because decoding a text and cutting it takes thirty times as long. It may find more terms than a text has, never fewer.
 */

/** Queries have few and short conditions; of others some are enough. */
const MOST_CONDITIONS = 12;
const MOST_TERMS = 6;

/** The terms that a text needs to meet each condition; a condition that needs none is left out, such as a prefix. */
export function termsOf({ phrases, prefixes, literals }: TextConditions): string[][] {
  return [
    ...phrases,
    ...prefixes.map((tokens) => tokens.slice(0, -1)),
    ...literals.map((literal) => symbolsIn(literal)),
  ]
    .filter((terms) => terms.length > 0)
    .slice(0, MOST_CONDITIONS)
    .map((terms) => terms.toSorted((a, b) => b.length - a.length).slice(0, MOST_TERMS));
}

/** @param seed from {@link seedOf} */
export function termHash(seed: number, term: string): number {
  let hash = seed;
  for (let i = 0; i < term.length; i++) hash = Math.imul(hash ^ term.charCodeAt(i), PRIME);
  return hash;
}

/** The hash of a user's empty term: equal terms of two users have different hashes. */
export function seedOf(tenant: number): number {
  return mixed(tenant + 1);
}

/** A 32-bit hash whose bits each depend on all bits of another (MurmurHash3). */
export function mixed(hash: number): number {
  let h = hash;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}

/** FNV-1a over UTF-16 units. */
const PRIME = 0x01000193;
/** What a byte means: it separates words, needs a closer look, or is a letter or digit, then in lower case. */
const BREAK = 0;
const LOOK = 1;
const BYTES = Uint8Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte).toLowerCase();
  if (/[a-z0-9]/.test(character)) return character.charCodeAt(0);
  return byte >= 0x80 || byte === 0x1b || byte === 0x5c ? LOOK : BREAK;
});
const BACKSLASH = 0x5c;
const ESC = 0x1b;
const CSI = 0x9b;
/** Letters that, after a backslash, are a character without letters. */
const SHORT_ESCAPES = new Set(Buffer.from('bfnrt'));
const RELATIONS = new Set(Buffer.from('<=>'));
/** The last one of a token. In lower case it has another form at the end of a word. */
const SIGMA = /[σς](?!.*[σς])/u;

/** Kinds of characters beyond ASCII. */
const Kind = { separator: 0, letter: 1, paired: 2, symbol: 3, other: 4 } as const;
/** The kind of each UTF-16 unit, and its lower case. Made at the first character beyond ASCII, which takes 40 ms. */
let characters: { readonly kinds: Uint8Array; readonly lower: Uint16Array } | null = null;

/** The backslashes and the digits of an escaped character. */
const ESCAPES = /(\\+)u([0-9a-f]{4})/gi;

/** Receives the hashes of terms. */
export type TermSink = (hash: number) => void;

/** Cuts texts into terms. */
export class TermScanner {
  readonly #add: TermSink;
  #seed = 0;
  #isComplete = true;

  constructor(add: TermSink) {
    this.#add = add;
  }

  /** Whether all terms of the texts since {@link reset} were found: false after terminal sequences that hide long texts. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  reset(): void {
    this.#isComplete = true;
  }

  /** @param isJson whether the text is JSON, so that a single backslash always begins an escape */
  scan(tenant: number, bytes: Uint8Array, isJson: boolean): void {
    this.#seed = seedOf(tenant);
    this.#scan(bytes, 0, bytes.length, isJson);
  }

  #scan(bytes: Uint8Array, from: number, to: number, isJson: boolean): void {
    const seed = this.#seed;
    let hash = seed;
    /** The first byte after the last separator. */
    let start = from;
    for (let i = from; i < to; i++) {
      const kind = BYTES[bytes[i] ?? 0] ?? 0;
      if (kind > LOOK) {
        hash = Math.imul(hash ^ kind, PRIME);
        continue;
      }
      if (kind === BREAK) {
        if (hash !== seed) this.#add(hash);
        hash = seed;
        start = i + 1;
        continue;
      }
      const byte = bytes[i] ?? 0;
      let unit = -1;
      let next = i + 1;
      if (byte === BACKSLASH) {
        while (bytes[next] === BACKSLASH && next < to) next++;
        const isSure = isJson && (next - i) % 2 === 1;
        unit = escapedAt(bytes, next, to);
        if (unit >= 0 && isSure) {
          // Of several backslashes some are shown.
          if (next - i > 1 && hash !== seed) {
            this.#add(hash);
            hash = seed;
          }
          next += 5;
        } else if (unit < 0) {
          if (hash !== seed) this.#add(hash);
          hash = seed;
          start = next;
          if (SHORT_ESCAPES.has(bytes[next] ?? 0) && next < to) {
            if (isSure) start = ++next;
            else this.#scan(bytes, next + 1, endOfStretch(bytes, next + 1, to).end, isJson);
          }
          i = next - 1;
          continue;
        } else unit = OTHER_UNIT;
      } else if (byte >= 0x80) {
        const length = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
        unit = length === 4 ? OTHER_UNIT : unitAt(bytes, i);
        next = i + length;
      } else if (byte === ESC) unit = OTHER_UNIT;
      const { kinds, lower } = unit > 0x7f ? (characters ??= charactersOf()) : NO_CHARACTERS;
      let found = unit > 0x7f ? kinds[unit] : unit >= 0 ? kindOfAscii(unit) : Kind.separator;
      // The next one is likely an escape, too.
      if (found === Kind.paired && byte === BACKSLASH) found = Kind.other;
      if (found === Kind.letter) {
        hash = Math.imul(hash ^ (unit > 0x7f ? (lower[unit] ?? 0) : (BYTES[unit] ?? 0)), PRIME);
        i = next - 1;
        continue;
      }
      if (found === Kind.other) {
        i = Math.max(this.#stretch(bytes, start, to, isJson), i + 1) - 1;
        hash = seed;
        start = i + 1;
        continue;
      }
      if (hash !== seed) {
        this.#add(hash);
        hash = seed;
      }
      i = next - 1;
      // A mark that follows may join the character before it, so the start of the stretch stays.
      if (found === Kind.paired) i = this.#pairs(bytes, i, to, lower[unit] ?? 0) - 1;
      else if (found === Kind.symbol) this.#add(Math.imul(seed ^ unit, PRIME));
      else start = next;
    }
    if (hash !== seed) this.#add(hash);
  }

  /** Pairs of characters of scripts without spaces. @param at the last byte of the first one @returns where they end */
  #pairs(bytes: Uint8Array, at: number, to: number, first: number): number {
    const { kinds, lower } = (characters ??= charactersOf());
    let before = first;
    let isAlone = true;
    let next = at + 1;
    for (; next + 2 < to; next += 3) {
      const byte = bytes[next] ?? 0;
      if (byte < 0xe0 || byte >= 0xf0) break;
      const unit = unitAt(bytes, next);
      if (kinds[unit] !== Kind.paired) break;
      const after = lower[unit] ?? 0;
      this.#add(Math.imul(Math.imul(this.#seed ^ before, PRIME) ^ after, PRIME));
      before = after;
      isAlone = false;
    }
    if (isAlone) this.#add(Math.imul(this.#seed ^ first, PRIME));
    return next;
  }

  /** Cuts a stretch without separators of ASCII as a text. @returns where it ends */
  #stretch(bytes: Uint8Array, start: number, to: number, isJson: boolean): number {
    const { end, isComplete } = endOfStretch(bytes, start, to);
    if (!isComplete) this.#isComplete = false;
    // A mark may join one of these signs.
    const begin = start > 0 && RELATIONS.has(bytes[start - 1] ?? 0) ? start - 1 : start;
    const text = Buffer.from(bytes.buffer, bytes.byteOffset + begin, end - begin).toString('utf8');
    const levels = new Set(Array.from(text.matchAll(ESCAPES), ([, slashes = '']) => levelOf(slashes)));
    if (!isJson || [...levels].some((level) => level > 1) || levels.size === 0) this.#words(text);
    for (const level of levels)
      this.#words(
        text.replace(ESCAPES, (all, slashes: string, hex: string) => {
          if (levelOf(slashes) > level) return all;
          // Further backslashes are shown.
          const before = levelOf(slashes) === slashes.length ? '' : ' ';
          return before + String.fromCharCode(parseInt(hex, 16));
        }),
      );
    return end;
  }

  #words(text: string): void {
    const visible = withoutTerminalSequences(text);
    const symbols: string[] = [];
    for (const token of tokensOf(visible, symbols)) {
      this.#add(termHash(this.#seed, token));
      // Which one it is may depend on characters outside the stretch.
      if (SIGMA.test(token))
        for (const sigma of 'σς') this.#add(termHash(this.#seed, token.replace(SIGMA, sigma)));
    }
    if (isAscii(visible)) return;
    for (const symbol of symbolsIn(visible + symbols.join(''))) this.#add(termHash(this.#seed, symbol));
  }
}

/** How many backslashes begin the escape: each level of JSON in a string doubles them. */
function levelOf({ length }: string): number {
  return length & -length;
}

/** A unit that only {@link TermScanner.#stretch} can cut. */
const OTHER_UNIT = 0xd800;
const NO_CHARACTERS = { kinds: new Uint8Array(0), lower: new Uint16Array(0) };

function kindOfAscii(unit: number): number {
  if (unit === ESC) return Kind.other;
  return (BYTES[unit] ?? 0) > LOOK ? Kind.letter : Kind.separator;
}

/** The character of two or three bytes. */
function unitAt(bytes: Uint8Array, at: number): number {
  const [first = 0, second = 0] = [bytes[at], bytes[at + 1]];
  if (first < 0xe0) return ((first & 0x1f) << 6) | (second & 0x3f);
  return ((first & 0x0f) << 12) | ((second & 0x3f) << 6) | ((bytes[at + 2] ?? 0) & 0x3f);
}

/** The UTF-16 unit of `uXXXX` after a backslash; -1 for other characters. */
function escapedAt(bytes: Uint8Array, at: number, to: number): number {
  if (bytes[at] !== 0x75 || at + 5 > to) return -1;
  let unit = 0;
  for (let i = at + 1; i < at + 5; i++) {
    const digit = DIGITS.indexOf(BYTES[bytes[i] ?? 0] ?? 0);
    if (digit < 0) return -1;
    unit = unit * 16 + digit;
  }
  return unit;
}
const DIGITS = [...Buffer.from('0123456789abcdef')];

/** Where a text without separators of ASCII ends: terminal sequences do not end it, because they are not shown. */
function endOfStretch(
  bytes: Uint8Array,
  start: number,
  to: number,
): { readonly end: number; readonly isComplete: boolean } {
  for (let at = start; at < to;) {
    const byte = bytes[at] ?? 0;
    let unit: number = byte;
    let next = at + 1;
    if (byte === BACKSLASH) {
      while (bytes[next] === BACKSLASH && next < to) next++;
      unit = escapedAt(bytes, next, to);
      if (unit < 0) return { end: at, isComplete: true };
      next += 5;
    } else if (byte >= 0x80) {
      next += byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
      unit = byte < 0xf0 ? unitAt(bytes, at) : OTHER_UNIT;
    } else if (BYTES[byte] === BREAK) return { end: at, isComplete: true };
    if (unit === ESC || unit === CSI) {
      const after = endOfSequence(bytes, next, to, unit === CSI);
      if (after === null) return { end: Math.min(next, to), isComplete: false };
      next = after;
    }
    at = next;
  }
  return { end: to, isComplete: true };
}

/** Where a terminal sequence ends; null if it hides a text, or has escapes. @param at after its first character */
function endOfSequence(bytes: Uint8Array, at: number, to: number, isControl: boolean): number | null {
  const skip = (i: number, first: number, last: number): number => {
    let end = i;
    while (end < to && (bytes[end] ?? 0) >= first && (bytes[end] ?? 0) <= last && bytes[end] !== BACKSLASH)
      end++;
    return end;
  };
  const [open, hidden] = [0x5b, 0x5d];
  if (!isControl && bytes[at] === hidden) return null;
  const isLong = isControl || bytes[at] === open;
  let end = isControl ? at : isLong ? at + 1 : at;
  if (isLong) end = skip(end, 0x30, 0x3f);
  end = skip(end, 0x20, 0x2f);
  if (end >= to) return to;
  if (bytes[end] === BACKSLASH) return null;
  const last = bytes[end] ?? 0;
  return last >= (isLong ? 0x40 : 0x30) && last <= 0x7e ? end + 1 : end;
}

/** The symbols beyond ASCII of a text, each once. */
function symbolsIn(text: string): string[] {
  return [...new Set(text.match(/(?![\0-\x7f])\p{S}/gu))];
}

function charactersOf(): NonNullable<typeof characters> {
  const kinds = new Uint8Array(65_536);
  const lower = new Uint16Array(65_536);
  for (let unit = 0x80; unit < 65_536; unit++) {
    const character = String.fromCharCode(unit);
    const small = character.toLowerCase();
    lower[unit] = small.charCodeAt(0);
    kinds[unit] = kindOf(unit, character, small);
  }
  return { kinds, lower };
}

function kindOf(unit: number, character: string, small: string): number {
  // A sigma at the end of a word has another form in lower case.
  const isContextual = small.length > 1 || character === 'Σ';
  if (isFolded(unit) || isContextual || unit === CSI || /[\p{M}\p{Cs}]/u.test(character)) return Kind.other;
  if (/[\p{L}\p{N}]/u.test(character)) return PAIRED_CHARACTER.test(character) ? Kind.paired : Kind.letter;
  const normal = character.normalize('NFKC');
  if (!/\p{S}/u.test(character + normal)) return Kind.separator;
  return normal === character ? Kind.symbol : Kind.other;
}
