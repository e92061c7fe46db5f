import type { JsonValue } from '../../../signal/attributes.js';
import { isObject, parseAny, parseStructure } from '../json-text.js';

/** Texts may be quoted as JSON by several layers. */
const MAX_QUOTES = 3;

/** The text inside JSON text (`"\"sunny\""`); any other text unchanged. */
export function unquoted(text: string): string {
  let inner = text;
  for (let i = 0; i < MAX_QUOTES && inner.startsWith('"') && inner.endsWith('"'); i++) {
    const parsed = parseAny(inner);
    if (typeof parsed !== 'string') break;
    inner = parsed;
  }
  return inner;
}

/** A value parsed from the JSON text that holds it. */
export function parsed(value: JsonValue): JsonValue {
  if (typeof value !== 'string') return value;
  const text = unquoted(value);
  return parseStructure(text) ?? text;
}

/** The value of `{type, value}`, as LangWatch sends all values. */
export function untyped(value: JsonValue): JsonValue {
  if (!isObject(value) || typeof value.type !== 'string' || !('value' in value)) return value;
  return Object.keys(value).length === 2 ? (value.value ?? null) : value;
}
