/**
 * User texts may contain any character, but PostgreSQL does not store U+0000: it and U+0001 are escaped as two characters. Escaped texts
 * sort like the originals, so comparing and sorting in the database is correct.
 */
const WRITTEN: Readonly<Record<string, string>> = { '\0': '\u0001\u0001', '\u0001': '\u0001\u0002' };

const SPECIAL = new RegExp(Object.keys(WRITTEN).join('|'), 'g');
const PAIR = new RegExp(Object.values(WRITTEN).join('|'), 'g');

/** Escapes a text for both databases; unpaired surrogates become U+FFFD. */
export function writeText(text: string): string {
  return text.toWellFormed().replace(SPECIAL, (character) => WRITTEN[character] ?? character);
}

/** Reverses {@link writeText}. */
export function readText(written: string): string {
  if (!written.includes('\u0001')) return written;
  return written.replace(PAIR, (pair) => (pair === WRITTEN['\0'] ? '\0' : '\u0001'));
}

/** A row with its texts unescaped, as a plain object: rows of SQLite's drivers have no prototype. */
export function readRow(row: Record<string, unknown>): Record<string, unknown> {
  const read: Record<string, unknown> = {};
  for (const name in row) {
    const value = row[name];
    read[name] = typeof value === 'string' ? readText(value) : value;
  }
  return read;
}

/** The parameters of a statement, with their texts escaped. */
export function writeParameters(parameters: readonly unknown[]): unknown[] {
  return parameters.map((value) => (typeof value === 'string' ? writeText(value) : value));
}
