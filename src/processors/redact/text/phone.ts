import { allMatches, isDigitAt, isWordAt, type Finder, type Match } from './finder.js';
import { beginnings, BEGINS_NUMBER, codes, DIGITS } from './signs.js';
import type { Source } from './source.js';
import { wireNumbers } from './wire-numbers.js';

/** With `+` or `00` and a country code. */
const INTERNATIONAL = /(?:\+|\b00)[1-9](?:[ ()./-]{0,2}\d){6,14}/g;
/** North American: `(415) 555-2671`, `415-555-2671`, `1 415.555.2671`. */
const NORTH_AMERICAN = /(?:1[ .-])?(?:\([2-9]\d{2}\) ?|[2-9]\d{2}([ .-]))[2-9]\d{2}[ .-]\d{4}/g;
/** National numbers with a trunk digit before the area code: only if the text marks them as phone numbers. */
const NATIONAL =
  /(?:\(0[1-9]\d{0,4}\)|0[1-9]\d{0,4})(?:[ ()./-]{0,2}\d){5,10}|[2-9]\d{2}[ .-]?[2-9]\d{2}[ .-]?\d{4}/g;
const CALL_WORDS =
  /(?<!\p{L})(?:tel|telephone|telefon|phone|call|mobile?|handy|cell|fax|whats ?app|sms|text|reach|contact|dial|ring|☎|📞|📱)(?!\p{L})[^\p{L}\d]{0,8}(?:[\p{L}.]{1,8}[^\p{L}\d]{0,8}){0,3}$/iu;
/** The start of each of the three formats, also if the preceding text is unknown. */
const FROM_ZEROS = /00[1-9](?:[ ()./-]{0,2}\d){6}/y;
const IN_GROUPS = /[2-9]\d{2}(?:\) ?|([ .-]))[2-9]\d{2}[ .-]\d{4}/y;
const FROM_AREA = /0[1-9]\d{0,4}\)?(?:[ ()./-]{0,2}\d){5}|[2-9]\d{2}[ .-]?[2-9]\d{2}[ .-]?\d{4}/y;
/** Words that mark the following number as a phone number. */
const WORDS =
  /tel|phone|call|mobil|handy|cell|fax|whats|sms|text|reach|contact|dial|ring|\xe2\x98|\xf0\x9f\x93|☎|📞|📱/i;
const SHORT_WAY = 40;
/** Distance in bytes, which also contain lengths, types and multi-byte signs, and in JSON, which also contains quotes. */
const LONG_WAY = 120;
const PLUS = 0x2b;
const SEPARATORS = codes(' ()./-');
const BETWEEN: ReadonlySet<number> = new Set(SEPARATORS);
const IN_NUMBER = [...DIGITS, ...SEPARATORS];
const FEWEST = 8;
const MOST = 15;

/** Telephone numbers: international and North American ones, and others if a preceding word marks them. */
export const phone: Finder = {
  name: 'phone',
  replacement: '[phone]',
  signs: [
    {
      pairs: BEGINS_NUMBER,
      behind: IN_NUMBER,
      third: IN_NUMBER,
      fifth: IN_NUMBER,
      isThere: (source, at) =>
        hasFewest(source, at) &&
        (source.code(at - 1) === PLUS ||
          beginnings(source, at).some((start) => mayBegin(source.text, start))),
    },
  ],
  wireSigns: wireNumbers(
    ({ length }, source, at) => length >= FEWEST && length <= MOST && isWorded(source.text, at),
  ),
  find: (text) => [
    ...allMatches(text, INTERNATIONAL, (found) =>
      isInternational(text, found) ? numberOf(text, found) : undefined,
    ),
    ...allMatches(text, NORTH_AMERICAN, (found) =>
      isGroupedAlike(found) ? numberOf(text, found) : undefined,
    ),
    ...allMatches(text, NATIONAL, (found) => (isCall(text, found.index) ? numberOf(text, found) : undefined)),
  ],
};

/** Whether the minimum number of digits follows, with at most two separators between two of them. */
function hasFewest(source: Source, start: number): boolean {
  let [count, between] = [0, 0];
  for (let at = start; between <= 2; at++) {
    const code = source.code(at);
    if (code >= 48 && code <= 57) {
      if (++count === FEWEST) return true;
      between = 0;
    } else if (BETWEEN.has(code)) between++;
    else break;
  }
  return false;
}

function mayBegin(text: string, start: number): boolean {
  if (beginsAt(IN_GROUPS, text, start)) return true;
  if (beginsAt(FROM_ZEROS, text, start))
    return isGrouped(text.slice(start, FROM_ZEROS.lastIndex + MOST)) || isWorded(text, start);
  return beginsAt(FROM_AREA, text, start) && isWorded(text, start);
}

function isGrouped(number: string): boolean {
  return /^\d+[ ()./-]/.test(number);
}

function beginsAt(pattern: RegExp, text: string, start: number): boolean {
  pattern.lastIndex = start;
  return pattern.test(text);
}

function isWorded(text: string, start: number): boolean {
  return WORDS.test(text.slice(Math.max(0, start - LONG_WAY), start));
}

function numberOf(text: string, found: RegExpExecArray): Match | undefined {
  const start = found.index;
  const end = start + found[0].length;
  const digits = found[0].replaceAll(/\D/g, '').length;
  if (digits < FEWEST || digits > MOST + 2) return undefined;
  const before = text[start - 1] ?? '';
  // Part of a longer number, a sum, an id or a name.
  if (isWordAt(text, start - 1) || isWordAt(text, end)) return undefined;
  if ((before === '.' || before === '-' || before === '/' || before === '+') && isWordAt(text, start - 2))
    return undefined;
  const isContinued = /[.,:/-]/.test(text[end] ?? '') && isDigitAt(text, end + 1);
  return isContinued ? undefined : { start, end };
}

/** Many ids begin with zeros, so numbers with `00` need separators or a word before them. */
function isInternational(text: string, { index, 0: number }: RegExpExecArray): boolean {
  return number.startsWith('+') || /\D/.test(number) || isCall(text, index);
}

/** Accepts `415-555-2671`, but not the ambiguous `415 555-2671`. After brackets, any separator is accepted. */
function isGroupedAlike(found: RegExpExecArray): boolean {
  const [number, separator] = found;
  return separator === undefined || number.at(-5) === separator;
}

function isCall(text: string, start: number): boolean {
  return CALL_WORDS.test(text.slice(Math.max(0, start - SHORT_WAY), start));
}
