import type { JsonObject, JsonValue } from '../../signal/attributes.js';
import { parseJson, serializeJson } from '../../signal/json.js';

/** Deeper values stay the text they came as: payloads may nest 64 levels, and a value gets some more around it. */
const MAX_LEVELS = 48;
/**
 * Opening brackets and commas of all the texts of one request that are read: an object for each costs a hundred bytes. What
 * comes as structure is counted by the decoders; this is for structure within text, which they do not see.
 */
const MAX_STRUCTURE = 2_000_000;
const STRUCTURE = ['{', '[', ','] as const;

/** Remaining allowance of the request whose spans are being mapped: mapping is synchronous, so there is only one at a time. */
let allowance = MAX_STRUCTURE;

/** The text that {@link parseOnce} parsed last. */
let lastText = '';
let lastStructure: JsonObject | JsonValue[] | undefined;

/** Call before the texts of a request: each request has the full limit. */
export function renewAllowance(): void {
  allowance = MAX_STRUCTURE;
  lastText = '';
  lastStructure = undefined;
}

/**
 * Parses a text that is the JSON of an object or list, in a form that can be stored and returned: numbers too large for a double
 * become texts, unpaired surrogates U+FFFD.
 *
 * @param maxLevels deeper values stay text
 * @returns undefined for every other text, and for one that would exceed the allowance of the request
 */
export function parseStructure(text: string, maxLevels = MAX_LEVELS): JsonObject | JsonValue[] | undefined {
  const first = firstCharacter(text);
  if (first !== '{' && first !== '[') return undefined;
  const value = parseAny(text, maxLevels);
  return typeof value === 'object' && value !== null ? value : undefined;
}

/** {@link parseStructure} with a cache of the last text, for several readers in a row. Do not change the result. */
export function parseOnce(text: string): JsonObject | JsonValue[] | undefined {
  if (text !== lastText) {
    lastStructure = parseStructure(text);
    lastText = text;
  }
  return lastStructure;
}

/** The same for any JSON text. The text must be valid JSON. */
export function parseAny(text: string, maxLevels = MAX_LEVELS): JsonValue | undefined {
  const cost = structureOf(text, allowance);
  if (cost > allowance) return undefined;
  allowance -= cost;
  let value: JsonValue;
  try {
    value = parseJson(text);
  } catch {
    return undefined;
  }
  switch (inspect(value, maxLevels)) {
    case 'good':
      return value;
    case 'bad':
      return repaired(value);
    case 'deep':
      return undefined;
  }
}

/** A value that came as a structure. What nests too deep becomes its JSON text. */
export function boundDepth(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null || inspect(value, MAX_LEVELS) !== 'deep') return value;
  return serializeJson(value);
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function firstCharacter(text: string): string {
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character !== ' ' && character !== '\n' && character !== '\r' && character !== '\t') return character;
  }
  return '';
}

/** The number of brackets and commas in a text, also within strings, up to `most`. */
function structureOf(text: string, most: number): number {
  let count = 0;
  for (const mark of STRUCTURE) {
    for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + 1)) {
      if (++count > most) return count;
    }
  }
  return count;
}

/** Whether a value can be stored as it is, must be repaired, or nests deeper than `levels`. Never goes deeper itself. */
function inspect(value: JsonValue, levels: number): 'good' | 'bad' | 'deep' {
  if (typeof value === 'string') return value.isWellFormed() ? 'good' : 'bad';
  if (typeof value === 'number') return Number.isFinite(value) ? 'good' : 'bad';
  if (typeof value !== 'object' || value === null) return 'good';
  if (levels === 0) return 'deep';
  let all: 'good' | 'bad' = 'good';
  if (Array.isArray(value)) {
    for (const child of value) {
      const found = inspect(child, levels - 1);
      if (found === 'deep') return 'deep';
      if (found === 'bad') all = 'bad';
    }
    return all;
  }
  for (const key in value) {
    const found = inspect(value[key] ?? null, levels - 1);
    if (found === 'deep') return 'deep';
    if (found === 'bad' || !key.isWellFormed()) all = 'bad';
  }
  return all;
}

/** Repairs the value, in place if necessary. */
function repaired(value: JsonValue): JsonValue {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) value[i] = repaired(value[i] ?? null);
    return value;
  }
  let hasBadKey = false;
  for (const key in value) {
    hasBadKey ||= !key.isWellFormed();
    const child = value[key] ?? null;
    const good = repaired(child);
    // JSON.parse creates an own `__proto__`; assigning to an existing own property is harmless.
    if (good !== child) value[key] = good;
  }
  return hasBadKey
    ? Object.fromEntries(Object.entries(value).map(([key, child]) => [key.toWellFormed(), child]))
    : value;
}
