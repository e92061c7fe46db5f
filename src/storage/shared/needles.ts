import { isAscii } from './log-text.js';
import type { TextConditions } from './text-query.js';

/**
 * Narrows down stored texts before they are cut into tokens: each condition of a query has a needle, and a text that meets the condition
 * contains the needle as it is stored, ignoring case, or one of the characters {@link isFolded}. A store searches for both in SQL.
 */

/**
 * Ranges of characters that become others by NFKC and lower-casing, or join the letter before them, so a needle does not contain them as
 * they are stored. `test/storage/needles.test.ts` checks that none is missing.
 */
const FOLDED: readonly (readonly [number, number])[] = parseRanges(
  '1b 9b aa b2-b3 b5 b9-ba bc-be 130-133 13f-140 149 17f 1c4-1cc 1f1-1f3 2b0-2b8 2e0-2e4 300-331 342-345 374 3d0-3d6 3f0-3f9 587 ' +
    '653-655 675-678 93c 958-95f 9be 9d7 9dc-9df a33-a36 a59-a5e b3e b5c-b5d bd7 e33 eb3 edc-edd f43 f4d-f5c f69 102e 10fc 1161-1175 ' +
    '11a8-11c2 1b35 1d2c-1d6a 1d78 1d9b-1dbf 1e9a-1e9e 1f71-1f7d 1f88-1f8f 1f98-1f9f 1fa8-1faf 1fbb-1fbe 1fc9-1feb 1ff9-1ffc ' +
    '2070-209c 20a8 2100-2189 2460-24ea 2c7c-2c7d 2d6f 2e9f 2ef3 2f00-2fd5 3038-303a 3099-309f 30ff 3131-319f 3200-3247 3250-33ff ' +
    'a69c-a69d a770 a7f1-a7f9 ab5c-ab5f ab69 f900-fad9 fb00-fb06 fb13-fbb1 fbd3-fd3d fd50-fdc7 fdf0-fdfc fe71-fefc ff10-ff5a ' +
    'ff66-ffdc 10781-107ba 110ba 113b8-113c9 16d67 1ccd6-1ccf9 1d400-1d7ff 1e030-1e06d 1ee00-1eebb 1f100-1f14f 1f16a-1f16c 1f190 ' +
    '1f200-1f251 1fbf0-1fbf9 2f800-2fa1d',
);
/** The escape of a character in JSON, which may stand for a letter, or begin a terminal sequence inside a word. */
const ESCAPE = '\\u';
/** JSON escapes these characters, or they are not searched as such. */
const ESCAPED = /["\\\p{Cc}]/u;
/** Queries have few conditions; any others are only checked on the texts found. */
const MOST_NEEDLES = 6;

/** Whether a character becomes others before texts are compared. */
export function isFolded(codePoint: number): boolean {
  return FOLDED.some(([from, to]) => codePoint >= from && codePoint <= to);
}

/** Whether a text may have a needle. */
export function mayHave(text: string, needle: string): boolean {
  return (
    text.toLowerCase().includes(needle.toLowerCase()) ||
    text.includes(ESCAPE) ||
    Array.from(text).some((character) => isFolded(character.codePointAt(0) ?? 0))
  );
}

/** For each condition of a query its needle, the longest ones if there are many. A condition without a needle is left out. */
export function needlesOf({ phrases, prefixes, literals }: TextConditions): string[] {
  const words = [...phrases, ...prefixes].map((tokens) => longest(tokens));
  const signs = literals.filter((literal) => !ESCAPED.test(literal));
  return [...words, ...signs]
    .filter((needle) => needle !== '')
    .toSorted((a, b) => b.length - a.length)
    .slice(0, MOST_NEEDLES);
}

/**
 * A regular expression (RE2, case-insensitive for ASCII) for texts in UTF-8 that are written as DuckDB casts bytes to text: printable ASCII
 * except quotes and backslashes as it is, any other byte as `\xE2`.
 */
export function patternInBytes(needle: string): string {
  const variants = Array.from(needle, (character) => {
    if (isAscii(character)) return bytesOf(character);
    const forms = new Set([character, character.toUpperCase()].map(bytesOf));
    return forms.size === 1 ? [...forms].join('') : `(?:${[...forms].join('|')})`;
  });
  return `(?i)${variants.join('')}|${FOLDED_IN_BYTES}`;
}

/** The same (RE2) for texts in UTF-8. */
export function patternInText(needle: string): string {
  const characters = Array.from(needle, (character) => `\\x{${hexOf(character)}}`).join('');
  // Only the needle ignores case: a folded `ſ` would match every `s`.
  return `(?i:${characters})|${FOLDED_IN_TEXT}`;
}

const FOLDED_IN_TEXT = `\\\\u|[${FOLDED.map(([from, to]) => `\\x{${from.toString(16)}}-\\x{${to.toString(16)}}`).join('')}]`;
const FOLDED_IN_BYTES = [bytesOf(ESCAPE), ...bytePatterns()].join('|');

function longest(tokens: readonly string[]): string {
  return tokens.reduce((a, b) => (Buffer.byteLength(b) > Buffer.byteLength(a) ? b : a), '');
}

function parseRanges(text: string): [number, number][] {
  return text.split(' ').map((range) => {
    const [from = '', to = from] = range.split('-');
    return [parseInt(from, 16), parseInt(to, 16)];
  });
}

function hexOf(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16);
}

/** A pattern for the bytes of a text. */
function bytesOf(text: string): string {
  return Array.from(Buffer.from(text), (byte) =>
    (byte >= 0x30 && byte <= 0x39) || (byte >= 0x61 && byte <= 0x7a) || (byte >= 0x41 && byte <= 0x5a)
      ? String.fromCharCode(byte)
      : byte > 0x20 && byte < 0x7f && !'"\'\\'.includes(String.fromCharCode(byte))
        ? `\\x{${byte.toString(16)}}`
        : `\\\\x${byte.toString(16).padStart(2, '0')}`,
  ).join('');
}

/** Patterns for {@link FOLDED}: characters with the same bytes except for the last one share a pattern. */
function bytePatterns(): string[] {
  const lasts = new Map<string, number[]>();
  for (const [from, to] of FOLDED)
    for (let code = from; code <= to; code++) {
      const bytes = Buffer.from(String.fromCodePoint(code));
      const head = bytes
        .subarray(0, -1)
        .reduce((text, byte) => `${text}\\\\x${byte.toString(16).padStart(2, '0')}`, '');
      const known = lasts.get(head);
      const last = bytes.at(-1) ?? 0;
      if (known === undefined) lasts.set(head, [last]);
      else known.push(last);
    }
  return [...lasts].map(([head, last]) => {
    if (last.length === 64) return head;
    const byTens = new Map<number, string>();
    for (const byte of last) byTens.set(byte >> 4, (byTens.get(byte >> 4) ?? '') + (byte & 15).toString(16));
    const ends = [...byTens].map(
      ([high, low]) => `${high.toString(16)}${low.length === 16 ? '' : `[${low}]`}`,
    );
    return `${head}\\\\x(?:${ends.join('|')})`;
  });
}
