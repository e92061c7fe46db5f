import type { JsonValue } from '../../signal/attributes.js';
import { invariant } from '../../signal/checked.js';
import { serializeJson } from '../../signal/json.js';

/** A run of letters and digits. */
const TOKEN = /[\p{L}\p{N}]+/gu;
const TOKEN_IN_ASCII = /[a-z0-9]+/g;
/**
 * More than 30 marks on one character, including those that only NFKC creates. No language has so many (UAX #15, Stream-Safe Text), and
 * ordering them takes time quadratic in their number: minutes for a megabyte.
 */
const PILED_MARKS = /([\p{M}\uFF9E\uFF9F]{30})[\p{M}\uFF9E\uFF9F]+/gu;
/**
 * NFKC can expand a character to 18 (U+FDFA); a megabyte of those blocked the thread for a second. No language comes near a factor of
 * three: text beyond that is not searched, with an allowance so that short texts of ligatures are complete.
 */
const MOST_GROWTH = 3;
const FREE_GROWTH = 64;
const BEYOND_ASCII = /[^\0-\x7f]/;
/** The text between two quotes, or a run of other characters. */
const QUOTED_OR_NOT = /"([^"]*)"|"?([^"]+)/g;

/** Whether a text has characters that Unicode would change beyond their case. */
export function isAscii(text: string): boolean {
  return !BEYOND_ASCII.test(text);
}

/** The searchable and displayed form of a body: text unchanged, anything else as JSON; null if nothing was sent. */
export function bodyText(body: JsonValue): string | null {
  if (typeof body === 'string') return body;
  return body === null ? null : serializeJson(body);
}

/**
 * The tokens of a text in order: runs of letters and digits after NFKC and lower-casing. Keeps the first 30 of stacked marks, and the
 * beginning of text that NFKC expands too much.
 */
export function tokensOf(text: string): string[] {
  if (isAscii(text)) return text.toLowerCase().match(TOKEN_IN_ASCII) ?? [];
  const normal = text.replace(PILED_MARKS, '$1').normalize('NFKC');
  const searched = normal.slice(0, FREE_GROWTH + MOST_GROWTH * text.length);
  return searched.toLowerCase().match(TOKEN) ?? [];
}

/** The tokens of a text with a space before, between and after them, as in columns `normal`; null for ASCII-only text. */
export function normalText(text: string): string | null {
  return isAscii(text) ? null : ` ${tokensOf(text).join(' ')} `;
}

/**
 * Parses a full-text query into phrases, whose tokens must be adjacent; most have one token. An unclosed quote is ignored. Empty for a
 * text without letters and digits.
 */
export function phrasesOf(query: string): string[][] {
  const phrases: string[][] = [];
  for (const [, quoted, plain] of query.matchAll(QUOTED_OR_NOT)) {
    if (quoted === undefined)
      phrases.push(...tokensOf(invariant(plain, 'text between quotes')).map((token) => [token]));
    else phrases.push(tokensOf(quoted));
  }
  return phrases.filter((phrase) => phrase.length > 0);
}
