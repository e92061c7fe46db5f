/** A string literal in ClickHouse's SQL, with backslash escapes. A lone surrogate becomes U+FFFD. */
export function quoted(text: string): string {
  return `'${text.toWellFormed().replace(/[\\'\0]/g, (character) => (character === '\0' ? '\\0' : `\\${character}`))}'`;
}

/** A list of texts as an array. */
export function quotedList(texts: readonly string[]): string {
  return `[${texts.map(quoted).join(', ')}]`;
}

/** A UUID literal. The id may be untrusted. */
export function quotedUuid(id: string): string {
  return `toUUIDOrZero(${quoted(id)})`;
}

/** A name of a database, a table, a column or a cluster. */
export function named(name: string): string {
  return `\`${name.replace(/[\\`]/g, (character) => `\\${character}`)}\``;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i;

/** The UUID that a text from outside begins with, as in rows, optionally after a quote; null if absent. */
export function uuidIn(text: string): string | null {
  return UUID.exec(text)?.[0].toLowerCase() ?? null;
}
