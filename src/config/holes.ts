/** A part of a text that is an expression: `${{ … }}`. */
export interface Hole {
  readonly isHole: true;
  /** Its start in the text, and the start of the text after it. */
  readonly start: number;
  readonly end: number;
  /** The text between the braces, trimmed; undefined if the hole is not closed. */
  readonly source: string | undefined;
}

/** A part of a text that is not a hole. */
interface Plain {
  readonly isHole: false;
  readonly start: number;
  readonly end: number;
}

const OPEN = '${{';
const BRACKETS: Readonly<Record<string, string>> = { '{': '}', '[': ']', '(': ')' };

/** Splits a text at its holes. A doubled `$` starts none, so `$${{` stands for the literal characters. */
export function partsOfText(text: string): readonly (Hole | Plain)[] {
  const parts: (Hole | Plain)[] = [];
  let start = 0;
  let at = text.indexOf('$');
  const plainUntil = (end: number) => {
    if (end > start) parts.push({ isHole: false, start, end });
  };
  while (at >= 0) {
    if (text.startsWith(OPEN, at)) {
      const close = closeOf(text, at + OPEN.length);
      const source = close === undefined ? undefined : text.slice(at + OPEN.length, close).trim();
      const end = close === undefined ? text.length : close + 2;
      plainUntil(at);
      parts.push({ isHole: true, start: at, end, source });
      start = end;
      at = text.indexOf('$', end);
    } else at = text.indexOf('$', at + (text[at + 1] === '$' ? 2 : 1));
  }
  plainUntil(text.length);
  return parts;
}

/** Whether a text has a hole. */
export function hasHole(text: string): boolean {
  return text.includes(OPEN) && partsOfText(text).some(({ isHole }) => isHole);
}

/** Position of the closing `}}` of a hole; braces of maps and within string literals are skipped. */
function closeOf(text: string, from: number): number | undefined {
  const open: string[] = [];
  for (let at = from; at < text.length; at++) {
    const character = text[at] ?? '';
    if (open.length === 0 && text.startsWith('}}', at)) return at;
    if (character === '"' || character === "'") at = endOfString(text, at);
    else if (character in BRACKETS) open.push(BRACKETS[character] ?? '');
    else if (character === open.at(-1)) open.pop();
  }
  return undefined;
}

/** End position of the string literal that starts here. */
function endOfString(text: string, start: number): number {
  const quote = text[start] ?? '';
  const long = quote.repeat(3);
  if (text.startsWith(long, start)) {
    const end = text.indexOf(long, start + 3);
    return end < 0 ? text.length : end + 2;
  }
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === quote) return at;
  }
  return text.length;
}
