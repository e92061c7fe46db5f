/** A text as a literal of ClickHouse's SQL, in which backslashes are escapes. Half a pair of surrogates becomes U+FFFD. */
export function quoted(text: string): string {
  return `'${text.toWellFormed().replace(/[\\'\0]/g, (character) => (character === '\0' ? '\\0' : `\\${character}`))}'`;
}

/** A list of texts as an array. */
export function quotedList(texts: readonly string[]): string {
  return `[${texts.map(quoted).join(', ')}]`;
}

/** A UUID, which may come from outside: in any other text it is none. */
export function quotedUuid(id: string): string {
  return `toUUIDOrZero(${quoted(id)})`;
}

/** A name of a database, a table, a column or a cluster. */
export function named(name: string): string {
  return `\`${name.replace(/[\\`]/g, (character) => `\\${character}`)}\``;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i;

/** The UUID that a text from outside begins with, as rows have it, which may stand between quotes; null where there is none. */
export function uuidIn(text: string): string | null {
  return UUID.exec(text)?.[0].toLowerCase() ?? null;
}
