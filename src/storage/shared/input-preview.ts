import type { JsonValue } from '../../signal/attributes.js';
import { parseJson, serializeJson } from '../../signal/json.js';
import { PREVIEW_CHARACTERS } from '../contracts/runs.js';

/** Maximum size of an input with a preview, which is read and parsed: 100 runs of this size take a quarter of a second. */
export const PREVIEWED_BYTES = 256 * 1024;

/** Keys that libraries use for the input, most significant first. */
const ASKED = [
  'messages',
  'contents',
  'input',
  'question',
  'query',
  'prompt',
  'task',
  'text',
  'content',
  'parts',
  'value',
  'args',
];
const USERS: ReadonlySet<unknown> = new Set(['user', 'human']);
/** Maximum nesting of texts and lists; deeper values are shown as JSON. */
const MOST_LEVELS = 6;

/**
 * A readable preview of an input on one line: the user's last message in a conversation, its text if there is one, otherwise JSON.
 *
 * @param json at most {@link PREVIEWED_BYTES}
 */
export function inputPreview(json: string): string {
  return oneLine(asked(json));
}

function asked(json: string): string {
  try {
    const value = parseJson(json);
    return textIn(value, MOST_LEVELS) ?? serializeJson(value);
  } catch {
    return json;
  }
}

/** @returns undefined if no text is found */
function textIn(value: JsonValue, levels: number): string | undefined {
  if (typeof value === 'string') return levels > 0 ? textInText(value, levels) : value;
  if (typeof value !== 'object' || value === null || levels === 0) return undefined;
  if (Array.isArray(value)) {
    const message = value.findLast(isUsers) ?? value.at(-1);
    const texts = message !== undefined && hasRole(message) ? [message] : value;
    const found = texts.flatMap((each) => textIn(each, levels - 1) ?? []);
    return found.length === 0 ? undefined : found.join(' ');
  }
  for (const name of ASKED) {
    const found = Object.hasOwn(value, name) ? textIn(value[name] ?? null, levels - 1) : undefined;
    if (found !== undefined && found.trim() !== '') return found;
  }
  const texts = Object.values(value).filter((each) => typeof each === 'string');
  return Object.keys(value).length === 1 ? texts[0] : undefined;
}

/** Some libraries send JSON as a string. */
function textInText(text: string, levels: number): string {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return textIn(parseJson(text), levels - 1) ?? text;
  } catch {
    return text;
  }
}

function hasRole(value: JsonValue): boolean {
  return typeof value === 'object' && value !== null && 'role' in value;
}

function isUsers(value: JsonValue): boolean {
  return typeof value === 'object' && value !== null && 'role' in value && USERS.has(value['role']);
}

function oneLine(text: string): string {
  // Longer than the result, so that enough remains after blanks are joined.
  const some = text
    .slice(0, 4 * PREVIEW_CHARACTERS)
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, PREVIEW_CHARACTERS);
  return /[\uD800-\uDBFF]$/.test(some) ? some.slice(0, -1) : some;
}
