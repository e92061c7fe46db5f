/**
 * Texts of users may contain every character, but PostgreSQL does not keep U+0000: it and the character after it are written as
 * two. Written texts sort like the original ones, so comparing and sorting in the database stays right.
 */
const WRITTEN: Readonly<Record<string, string>> = { '\0': '\u0001\u0001', '\u0001': '\u0001\u0002' };

const SPECIAL = new RegExp(Object.keys(WRITTEN).join('|'), 'g');
const PAIR = new RegExp(Object.values(WRITTEN).join('|'), 'g');

/** A text as both databases keep it; half a surrogate pair becomes U+FFFD. */
export function writeText(text: string): string {
  return text.toWellFormed().replace(SPECIAL, (character) => WRITTEN[character] ?? character);
}

/** The text that {@link writeText} was given. */
export function readText(written: string): string {
  if (!written.includes('\u0001')) return written;
  return written.replace(PAIR, (pair) => (pair === WRITTEN['\0'] ? '\0' : '\u0001'));
}

/** A row as it was before its texts were written, as a plain object: those of SQLite's drivers have no prototype. */
export function readRow(row: Record<string, unknown>): Record<string, unknown> {
  const read: Record<string, unknown> = {};
  for (const name in row) {
    const value = row[name];
    read[name] = typeof value === 'string' ? readText(value) : value;
  }
  return read;
}

/** The parameters of a statement, with their texts written. */
export function writeParameters(parameters: readonly unknown[]): unknown[] {
  return parameters.map((value) => (typeof value === 'string' ? writeText(value) : value));
}
