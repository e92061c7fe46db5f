const DIGIT = /[0-9]/;
/** Also with the separators that some clients use instead of a dash. */
const UUID = /[0-9a-f]{8}([-_])[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{12}/iy;
const UUID_LENGTH = 36;
const HEX = /^[0-9a-f]+$/i;
/** Parts of an ISO 8601 time: `22T10`, `00Z`, `20261122T100000Z`. */
const TIME = /^[0-9]{2,8}(?:T[0-9]{0,6})?Z?$/;
const LONG_NUMBER = /[0-9]{5,}/g;
const ID = '<id>';
const NUMBER = '<n>';
/**
 * Minimum length of a mix of digits and hexadecimal letters that counts as a hash: in names with `withNumbers`, and in others.
 */
const SHORT_HASH = 8;
const LONG_HASH = 16;
/** Minimum number of changes between letters and digits in ids with other alphabets. */
const MIXED = 4;

/**
 * A low-cardinality name: UUIDs, hashes and ids become `<id>`. Linear in the length of the name.
 *
 * @param withNumbers whether shorter hashes also become `<id>`, and numbers `<n>`: separate numbers, and next to letters those
 *   with five digits or more
 */
export function foldedName(name: string, withNumbers: boolean): string {
  // Most names remain unchanged.
  if (!DIGIT.test(name)) return name;
  let folded = '';
  let copied = 0;
  for (let start = 0; start < name.length;) {
    if (!isInWord(name, start)) {
      start++;
      continue;
    }
    let end = start + 1;
    while (isInWord(name, end)) end++;
    if (isUuidAt(name, start, end)) end = start + UUID_LENGTH;
    const word = name.slice(start, end);
    const instead = foldedWord(word, withNumbers);
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

function foldedWord(word: string, withNumbers: boolean): string {
  const digits = digitsIn(word);
  if (digits === 0) return word;
  if (word.length === UUID_LENGTH && !isInWord(word, SHORT_HASH)) return ID;
  if (withNumbers && (digits === word.length || TIME.test(word))) return NUMBER;
  if (isId(word, digits, withNumbers)) return ID;
  return withNumbers ? word.replace(LONG_NUMBER, NUMBER) : word;
}

function isId(word: string, digits: number, withNumbers: boolean): boolean {
  if (word.length < (withNumbers ? SHORT_HASH : LONG_HASH)) return false;
  if (HEX.test(word)) return word.length >= LONG_HASH || digits >= 2;
  return word.length >= LONG_HASH && changesIn(word) >= MIXED;
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
