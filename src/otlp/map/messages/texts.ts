import type { JsonValue } from '../../../signal/attributes.js';
import { parseAny, parseStructure } from '../json-text.js';

/** Texts are written as JSON by one layer, and once more by the next. */
const MAX_QUOTES = 3;

/** The text inside of JSON text of a text (`"\"sunny\""`); any other text as it is. */
export function unquoted(text: string): string {
  let inner = text;
  for (let i = 0; i < MAX_QUOTES && inner.startsWith('"') && inner.endsWith('"'); i++) {
    const parsed = parseAny(inner);
    if (typeof parsed !== 'string') break;
    inner = parsed;
  }
  return inner;
}

/** A value without the JSON text that it came in. */
export function parsed(value: JsonValue): JsonValue {
  if (typeof value !== 'string') return value;
  const text = unquoted(value);
  return parseStructure(text) ?? text;
}
