const DIGIT = /[0-9]/;
/** Also with the separators that some clients use instead of a dash. */
const UUID = /[0-9a-f]{8}([-_])[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{12}/iy;
const UUID_LENGTH = 36;
const IPV6 = /^[0-9a-f]{0,4}(?::[0-9a-f.]{0,15}){2,8}$/i;
const HEX = /^[0-9a-f]+$/i;
/** A date with or without a time: `2026-11-22T10:00:00Z`, `20261122T100000Z`. */
const TIME = /[0-9]{4}(-?)[0-9]{2}\1[0-9]{2}(?:[T_ ][0-9]{2}:?[0-9]{2}(?::?[0-9]{2}(?:\.[0-9]{1,9})?)?Z?)?/y;
const LONG_NUMBER = /[0-9]{4,}/g;
const ID = '<id>';
const NUMBER = '<n>';
/** Minimum length of a mix of digits and hexadecimal letters that counts as a hash. */
const SHORT_HASH = 8;
/** Minimum length of an id with other letters. */
const LONG_ID = 16;
/** Minimum number of changes between letters and digits in ids with other alphabets. */
const MIXED = 4;

/**
 * A low-cardinality name: UUIDs, hexadecimal ids of eight digits and more, and long ids become `<id>`, dates and numbers of four
 * digits and more `<n>`. Shorter numbers and IPv6 addresses stay. Linear in the length of the name.
 */
export function foldedName(name: string): string {
  // Most names remain unchanged.
  if (!DIGIT.test(name) || IPV6.test(name)) return name;
  let folded = '';
  let copied = 0;
  for (let start = 0; start < name.length;) {
    if (!isInWord(name, start)) {
      start++;
      continue;
    }
    let end = start + 1;
    while (isInWord(name, end)) end++;
    const timeEnd = endOfTime(name, start);
    if (isUuidAt(name, start, end)) end = start + UUID_LENGTH;
    else if (timeEnd > start) end = timeEnd;
    const word = name.slice(start, end);
    const instead = end === timeEnd ? NUMBER : foldedWord(word);
    if (instead !== word) {
      folded += name.slice(copied, start) + instead;
      copied = end;
    }
    start = end;
  }
  return folded + name.slice(copied);
}

/** @param end of the word that starts at `start` */
function isUuidAt(name: string, start: number, end: number): boolean {
  if (end !== start + SHORT_HASH) return false;
  UUID.lastIndex = start;
  return UUID.test(name) && !isInWord(name, start + UUID_LENGTH);
}

/** @returns `start` if no date starts there */
function endOfTime(name: string, start: number): number {
  TIME.lastIndex = start;
  if (!TIME.test(name) || isInWord(name, TIME.lastIndex)) return start;
  return TIME.lastIndex;
}

function foldedWord(word: string): string {
  const digits = digitsIn(word);
  if (digits === 0) return word;
  if (word.length === UUID_LENGTH && !isInWord(word, SHORT_HASH)) return ID;
  if (digits < word.length && isId(word)) return ID;
  return word.replace(LONG_NUMBER, NUMBER);
}

function isId(word: string): boolean {
  return HEX.test(word) ? word.length >= SHORT_HASH : word.length >= LONG_ID && changesIn(word) >= MIXED;
}

function digitsIn(word: string): number {
  let digits = 0;
  for (let i = 0; i < word.length; i++) if (isDigit(word.charCodeAt(i))) digits++;
  return digits;
}

/** Number of changes between digits and letters. */
function changesIn(word: string): number {
  let found = 0;
  for (let i = 1; i < word.length; i++)
    if (isDigit(word.charCodeAt(i)) !== isDigit(word.charCodeAt(i - 1))) found++;
  return found;
}

/** Whether a character is a digit, a letter or outside ASCII, so that no character is cut. */
function isInWord(name: string, at: number): boolean {
  const code = name.charCodeAt(at);
  return isDigit(code) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code > 127;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}
