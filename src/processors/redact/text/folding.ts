/** Digits, signs and blanks of other scripts that are read as those of ASCII, each of one unit as they are. */
const FOLDABLE =
  '[\u00a0\u00ad\u0660-\u0669\u06f0-\u06f9\u2000-\u2015\u202f\u2060\u2212\u3000\u3002\ufeff\uff01-\uff5e]';
const HAS_FOLDED = new RegExp(FOLDABLE);
const FOLDED = new RegExp(FOLDABLE, 'g');

/** Whether a text has any of them. In UTF-8, read as Latin-1, they begin so. */
export const FOLDED_HINT =
  /\xc2[\xa0\xad]|(?:\xd9[\xa0-\xa9]){2}|(?:\xdb[\xb0-\xb9]){2}|\xe2[\x80\x81\x88]|\xe3\x80|\xef[\xbb-\xbd]/;

const FULL_WIDTH = 0xff01;
const FULL_WIDTH_END = 0xff5e;

/**
 * A text in which digits, signs and blanks of other scripts are those of ASCII, so that `４１１１` is found as `4111` is. Every
 * unit keeps its place.
 */
export function folded(text: string): string {
  // Most texts have none.
  return HAS_FOLDED.test(text) ? text.replace(FOLDED, plain) : text;
}

function plain(character: string): string {
  const code = character.charCodeAt(0);
  if (code >= FULL_WIDTH && code <= FULL_WIDTH_END) return String.fromCharCode(code - FULL_WIDTH + 0x21);
  if (code >= 0x0660 && code <= 0x0669) return String.fromCharCode(code - 0x0660 + 48);
  if (code >= 0x06f0 && code <= 0x06f9) return String.fromCharCode(code - 0x06f0 + 48);
  if (code === 0x3002) return '.';
  // Hyphens, dashes and the minus.
  if ((code >= 0x2010 && code <= 0x2015) || code === 0x2212 || code === 0xad) return '-';
  return ' ';
}
