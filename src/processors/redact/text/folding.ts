/**
 * Non-ASCII digits, signs and blanks that are treated as ASCII, each one UTF-16 unit long, and the Kelvin sign, whose lower case
 * is `k`. Keep in sync with {@link isFoldable} and {@link beginsFoldable}.
 */
const FOLDED =
  /[\u00a0\u00ad\u0660-\u0669\u06f0-\u06f9\u2000-\u2015\u202f\u2060\u212a\u2212\u3000\u3002\ufeff\uff01-\uff5e]/g;
const KELVIN = 0x212a;
const FULL_WIDTH = 0xff01;
const FULL_WIDTH_END = 0xff5e;

/** Whether {@link folded} replaces a character. @param code beyond ASCII */
export function isFoldable(code: number): boolean {
  if (code < 0x2000)
    return (
      code === 0xa0 ||
      code === 0xad ||
      (code >= 0x0660 && code <= 0x0669) ||
      (code >= 0x06f0 && code <= 0x06f9)
    );
  return (
    code <= 0x2015 ||
    code === 0x202f ||
    code === 0x2060 ||
    code === KELVIN ||
    code === 0x2212 ||
    code === 0x3000 ||
    code === 0x3002 ||
    code === 0xfeff ||
    (code >= FULL_WIDTH && code <= FULL_WIDTH_END)
  );
}

/** Whether two bytes of UTF-8 may begin a foldable character. */
export function mayBeginFoldable(first: number, second: number): boolean {
  switch (first) {
    case 0xc2:
      return second === 0xa0 || second === 0xad;
    case 0xd9:
      return second >= 0xa0 && second <= 0xa9;
    case 0xdb:
      return second >= 0xb0 && second <= 0xb9;
    case 0xe2:
      return second === 0x80 || second === 0x81 || second === 0x84 || second === 0x88;
    case 0xe3:
      return second === 0x80;
    case 0xef:
      return second >= 0xbb && second <= 0xbd;
    default:
      return false;
  }
}

/**
 * Whether a foldable character may begin at a position. Also true for a few others, but not for quotes, which are in most texts.
 */
export function beginsFoldable(bytes: Uint8Array, at: number): boolean {
  const [first = 0, second = 0, third = 0] = [bytes[at], bytes[at + 1], bytes[at + 2]];
  if (first === 0xe2 && second === 0x80) return third <= 0x95 || third === 0xaf;
  return mayBeginFoldable(first, second);
}

/** Maximum nesting of JSON in JSON that {@link unescaped} resolves. */
const MOST_LAYERS = 8;
/** A JSON escape for a character code or a slash. Nested JSON puts more backslashes before it. */
const ESCAPED = /(?<!\\)\\+(?:u([0-9a-f]{4})|\/)/gi;

/**
 * Replaces JSON escapes of characters, such as `\u0040` for `@`, without parsing JSON.
 *
 * @returns undefined if the nesting is too deep
 */
export function unescaped(text: string): string | undefined {
  let before = text;
  for (let layer = 0; layer < MOST_LAYERS; layer++) {
    const after = before.replace(ESCAPED, (_, code?: string) =>
      code === undefined ? '/' : String.fromCharCode(Number.parseInt(code, 16)),
    );
    if (after === before) return after;
    before = after;
  }
  return undefined;
}

/** Replaces non-ASCII digits, signs and blanks by ASCII, so that `４１１１` is found like `4111`. Every unit keeps its position. */
export function folded(text: string): string {
  return text.replace(FOLDED, plain);
}

function plain(character: string): string {
  const code = character.charCodeAt(0);
  if (code >= FULL_WIDTH && code <= FULL_WIDTH_END) return String.fromCharCode(code - FULL_WIDTH + 0x21);
  if (code >= 0x0660 && code <= 0x0669) return String.fromCharCode(code - 0x0660 + 48);
  if (code >= 0x06f0 && code <= 0x06f9) return String.fromCharCode(code - 0x06f0 + 48);
  if (code === 0x3002) return '.';
  if (code === KELVIN) return 'k';
  // Hyphens, dashes and the minus.
  if ((code >= 0x2010 && code <= 0x2015) || code === 0x2212 || code === 0xad) return '-';
  return ' ';
}
