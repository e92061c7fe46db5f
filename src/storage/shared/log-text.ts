import type { JsonValue } from '../../signal/attributes.js';
import { invariant } from '../../signal/checked.js';
import { serializeJson } from '../../signal/json.js';

/** A run of letters and digits. */
const TOKEN = /[\p{L}\p{N}]+/gu;
const TOKEN_IN_ASCII = /[a-z0-9]+/g;
/**
 * More than 30 marks on one character, also those that only NFKC makes marks. No language has so many (UAX #15, Stream-Safe Text), and to
 * put them in order takes a time that grows with the square of their number: minutes for a megabyte.
 */
const PILED_MARKS = /([\p{M}\uFF9E\uFF9F]{30})[\p{M}\uFF9E\uFF9F]+/gu;
/**
 * NFKC makes up to 18 characters of one (U+FDFA), and a megabyte of those held up the thread for a second. No language comes near three: what
 * goes beyond that is not searched, but for some characters, so that a short text of ligatures alone is whole.
 */
const MOST_GROWTH = 3;
const FREE_GROWTH = 64;
const BEYOND_ASCII = /[^\0-\x7f]/;
/** What is between two quotes, or a run of anything else. */
const QUOTED_OR_NOT = /"([^"]*)"|"?([^"]+)/g;

/** Whether a text has characters that Unicode would change beyond their case. */
export function isAscii(text: string): boolean {
  return !BEYOND_ASCII.test(text);
}

/** A body as it is searched and shown: text as it is, anything else as JSON; null where nothing was sent. */
export function bodyText(body: JsonValue): string | null {
  if (typeof body === 'string') return body;
  return body === null ? null : serializeJson(body);
}

/**
 * The tokens of a text in their order: runs of letters and digits after NFKC and lower-casing. Of piled marks the first 30 count, and of what
 * NFKC makes much longer the beginning.
 */
export function tokensOf(text: string): string[] {
  if (isAscii(text)) return text.toLowerCase().match(TOKEN_IN_ASCII) ?? [];
  const normal = text.replace(PILED_MARKS, '$1').normalize('NFKC');
  const searched = normal.slice(0, FREE_GROWTH + MOST_GROWTH * text.length);
  return searched.toLowerCase().match(TOKEN) ?? [];
}

/** The tokens of a text with a space before, between and behind them, as columns `normal` have them; null for one that is all ASCII. */
export function normalText(text: string): string | null {
  return isAscii(text) ? null : ` ${tokensOf(text).join(' ')} `;
}

/**
 * What a full-text query asks for: phrases whose tokens must lie side by side, most of them of one token. A quote that is not
 * closed does not count. Empty for a text without letters and digits, which asks for nothing.
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
