import type { JsonValue } from './attributes.js';
import { intAt } from './checked.js';

/** Integers of up to 15 digits are exact as doubles. */
const MIN_DIGITS = 16;
/** A number with more digits is not finite as a double; it is refused. */
const MAX_DIGITS = 309;
const QUOTE = '"';
const BACKSLASH = 0x5c;
const MINUS = 0x2d;
const COLON = 0x3a;
const BLANKS = [' ', '\t', '\r', '\n'];
/** Characters allowed before and after a number. */
const BEFORE = new Set([...BLANKS, ':', ',', '['].map(codeOf));
const BEHIND = new Set([...BLANKS, ',', ']', '}'].map(codeOf));
const BLANK = new Set(BLANKS.map(codeOf));

/**
 * Prefix of the strings that replace long integers while a text is read or written. It is random, so no untrusted text contains
 * it.
 */
const MARK = `~${Buffer.from(crypto.getRandomValues(new Uint8Array(12))).toString('base64url')}~`;
const MARKED = new RegExp(`"${MARK}(-?\\d+)"`, 'g');

/** Selects the upper halves of four bytes, which are the same for all digits. */
const UPPER_HALVES = 0xf0f0f0f0 | 0;
const DIGITS_UPPER_HALVES = 0x30303030;
const WORD_BYTES = 4;
/** A run of {@link MIN_DIGITS} digits covers at least this many words. */
const WORDS_OF_RUN = 3;

/**
 * Like `JSON.parse`, but integers that a double cannot represent become `bigint`s with all their digits. Only texts that may
 * contain such integers cost more: about twice as much. Numbers with a point or an exponent are doubles.
 *
 * @param text of any nesting depth
 * @param bytes the same text in UTF-8, if available: scanning it takes a quarter of the time
 * @throws SyntaxError like `JSON.parse`
 */
export function parseJson(text: string, bytes?: Uint8Array): JsonValue {
  if (bytes !== undefined && !hasLongRun(bytes)) return JSON.parse(text) as JsonValue;
  const first = nextRun(text, 0);
  if (first === undefined) return JSON.parse(text) as JsonValue;
  const marked = markLongIntegers(text, first);
  if (marked === text) return JSON.parse(text) as JsonValue;
  try {
    return restored(JSON.parse(marked) as JsonValue);
  } catch {
    // The error should give the position in the original text.
    return JSON.parse(text) as JsonValue;
  }
}

/** Like `JSON.stringify`, but also writes `bigint`s, as integers. */
export function serializeJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    // Not checked in advance, because bigints are rare and the check is slow.
    if (!(error instanceof TypeError)) throw error;
    return JSON.stringify(value, (_key, child: unknown) =>
      typeof child === 'bigint' ? `${MARK}${child}` : child,
    ).replace(MARKED, '$1');
  }
}

/** Whether there is a run of {@link MIN_DIGITS} digits. Compares four bytes at a time. */
function hasLongRun(bytes: Uint8Array): boolean {
  const lead = -bytes.byteOffset & (WORD_BYTES - 1);
  if (bytes.length < lead + WORD_BYTES) return false;
  const words = new Int32Array(
    bytes.buffer,
    bytes.byteOffset + lead,
    Math.floor((bytes.length - lead) / WORD_BYTES),
  );
  for (let i = WORDS_OF_RUN - 1; i < words.length; i += WORDS_OF_RUN) {
    if ((intAt(words, i) & UPPER_HALVES) !== DIGITS_UPPER_HALVES) continue;
    const at = lead + i * WORD_BYTES;
    let start = at;
    while (isDigitCode(bytes[start - 1])) start--;
    let end = at;
    while (isDigitCode(bytes[end])) end++;
    if (end - start >= MIN_DIGITS) return true;
  }
  return false;
}

interface Run {
  readonly start: number;
  readonly end: number;
}

/**
 * The next run of at least {@link MIN_DIGITS} digits at a position where a number can start, also within strings. Such a run
 * contains one of every sixteen characters, so only those are checked.
 */
function nextRun(text: string, from: number): Run | undefined {
  for (let at = from + MIN_DIGITS - 1; at < text.length; at += MIN_DIGITS) {
    if (!isDigit(text, at)) continue;
    let start = at;
    while (start > from && isDigit(text, start - 1)) start--;
    let end = at + 1;
    while (isDigit(text, end)) end++;
    if (end - start >= MIN_DIGITS && mayBegin(text, start)) return { start, end };
    // The character after a run is never a digit.
    at = Math.max(at, end);
  }
  return undefined;
}

/** Whether a number can start there. Most long runs of digits follow a decimal point, where none can. */
function mayBegin(text: string, start: number): boolean {
  const before = text.charCodeAt(start - 1) === MINUS ? start - 2 : start - 1;
  return before < 0 || BEFORE.has(text.charCodeAt(before));
}

/** Replaces long integers by marked strings; strings are unchanged. */
function markLongIntegers(text: string, first: Run): string {
  let marked = '';
  let copied = 0;
  /** End of the last string that starts before the run. */
  let outside = 0;
  /** Start of the next string. It is searched only once, because there may be many runs before it. */
  let quote = text.indexOf(QUOTE);
  for (let run: Run | undefined = first; run; run = nextRun(text, Math.max(run.end, outside))) {
    while (quote >= 0 && quote <= run.start) {
      outside = endOfString(text, quote) + 1;
      quote = text.indexOf(QUOTE, outside);
    }
    if (outside > run.start || !isLongInteger(text, run)) continue;
    const start = text.charCodeAt(run.start - 1) === MINUS ? run.start - 1 : run.start;
    marked += `${text.slice(copied, start)}"${MARK}${text.slice(start, run.end)}"`;
    copied = run.end;
  }
  return copied === 0 ? text : marked + text.slice(copied);
}

/** Whether a run of digits outside strings is a whole integer that a double cannot represent. Keys of objects are excluded. */
function isLongInteger(text: string, { start, end }: Run): boolean {
  if (end < text.length && !BEHIND.has(text.charCodeAt(end))) return false;
  let behind = end;
  while (BLANK.has(text.charCodeAt(behind))) behind++;
  if (text.charCodeAt(behind) === COLON || text.startsWith('0', start)) return false;
  return end - start <= MAX_DIGITS && !Number.isSafeInteger(Number(text.slice(start, end)));
}

function isDigit(text: string, at: number): boolean {
  return isDigitCode(text.charCodeAt(at));
}

function isDigitCode(code: number | undefined): boolean {
  return code !== undefined && code >= 0x30 && code <= 0x39;
}

function codeOf(character: string): number {
  return character.charCodeAt(0);
}

/** @returns the position of the quote that ends the string begun at `start`, or the end of the text */
export function endOfString(text: string, start: number): number {
  for (let end = text.indexOf(QUOTE, start + 1); end >= 0; end = text.indexOf(QUOTE, end + 1)) {
    let before = end - 1;
    while (text.charCodeAt(before) === BACKSLASH) before--;
    // An even number of backslashes does not escape the quote.
    if ((end - before) % 2 === 1) return end;
  }
  return text.length;
}

/** Changes the value in place. It uses its own stack, because a text may nest deeper than the call stack allows. */
function restored(root: JsonValue): JsonValue {
  const holder = { root };
  const waiting: Record<string, JsonValue>[] = [holder];
  for (let object = waiting.pop(); object; object = waiting.pop()) {
    for (const key in object) {
      const value = object[key];
      if (typeof value === 'string') {
        if (value.startsWith(MARK)) object[key] = BigInt(value.slice(MARK.length));
      } else if (typeof value === 'object' && value !== null) {
        // Lists are traversed by index like objects by key.
        waiting.push(value as Record<string, JsonValue>);
      }
    }
  }
  return holder.root;
}
