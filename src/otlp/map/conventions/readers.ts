import type { JsonObject, JsonValue } from '../../../signal/attributes.js';
import { parseMoney } from '../../../signal/money.js';
import { isHit } from '../../../signal/usage-object.js';
import { isObject, parseOnce, parseStructure } from '../json-text.js';
import { parsePython } from '../messages/python-literal.js';
import type { Kind, Reader } from './convention.js';

const DIGITS = /^\d+$/;
const WHOLE_NUMBER = /^\+?\d+(\.\d*)?$/;

/** Anything that is not empty. */
export const present: Reader = (value) => (value === null || value === '' ? undefined : true);

export const text: Reader = (value) => {
  if (typeof value === 'string') return value.trim() === '' ? undefined : value;
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean')
    return String(value);
  return undefined;
};

/** Placeholders for missing values, and Logfire's text for scrubbed ones. */
const NOBODY = /^(?:none|null|undefined|\[scrubbed due to .*\])$/i;

/** The id of a session or a user, or the name of a model. */
export const identity: Reader = (value) => {
  const found = text(value);
  return typeof found === 'string' && NOBODY.test(found.trim()) ? undefined : found;
};

/** Whether the response came from a cache. */
export const hit: Reader = (value) => (isHit(value) ? true : undefined);

/** A number of tokens or rows, not negative. Texts of digits are accepted, fractions are rounded. */
export const count: Reader = (value) => {
  if (typeof value === 'string') {
    const digits = value.trim();
    return WHOLE_NUMBER.test(digits) ? count(Number(digits)) : undefined;
  }
  if (typeof value !== 'number' || !(value >= 0)) return undefined;
  const whole = Math.round(value);
  return Number.isSafeInteger(whole) ? whole : undefined;
};

/** A length of time that is given in milliseconds or in seconds, in milliseconds. */
export const milliseconds: Reader = lengthOfTime(1);
export const seconds: Reader = lengthOfTime(1000);

function lengthOfTime(unit: number): Reader {
  return (value) => {
    const length = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    return typeof length === 'number' && length >= 0 && length <= Number.MAX_SAFE_INTEGER
      ? length * unit
      : undefined;
  };
}

/** A version of a prompt, an integer from 0. Texts of digits are accepted, `v2` is not. */
export const version: Reader = (value) => {
  if (typeof value === 'string') return DIGITS.test(value) ? version(Number(value)) : undefined;
  return typeof value === 'number' && value >= 0 && Number.isSafeInteger(value) ? value : undefined;
};

/** An amount in US dollars, as nano-USD. */
export const cost: Reader = (value) => {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined;
  return parseMoney(value);
};

/** A payload or a part of one; undefined if it is empty, including JSON text of null or an empty list. */
export const payload: Reader = (value) => {
  if (typeof value === 'string') {
    const start = value.length < 16 ? value.trim() : value;
    return start === '' || start === 'null' || start === '[]' ? undefined : value;
  }
  if (value === null || (Array.isArray(value) && value.length === 0)) return undefined;
  return value;
};

/** A list of texts, also as JSON text or as a single text. */
export const texts: Reader = (value) => {
  const parsed = typeof value === 'string' ? (parseStructure(value) ?? value) : value;
  const list = (Array.isArray(parsed) ? parsed : [parsed]).map(text).filter((item) => item !== undefined);
  return list.length === 0 ? undefined : list;
};

/** Maps an attribute's value, in capitals, to a kind. */
export function kindBy(table: Readonly<Record<string, Kind>>): Reader {
  const kinds = new Map(Object.entries(table));
  return (value) => (typeof value === 'string' ? kinds.get(value.trim().toUpperCase()) : undefined);
}

export function only(wanted: string | boolean): Reader {
  return (value) => (value === wanted ? true : undefined);
}

/** A value inside an object or JSON text: the first of some keys that `read` accepts. */
export function inside(keys: readonly string[], read: Reader): Reader {
  return (value) => {
    const object = objectOf(value);
    if (object === undefined) return undefined;
    for (const key of keys) {
      const found = Object.hasOwn(object, key) ? read(object[key] ?? null) : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  };
}

/** The result of the first reader that accepts a value. */
export function firstOf(...readers: readonly Reader[]): Reader {
  return (value) => {
    for (const read of readers) {
      const found = read(value);
      if (found !== undefined) return found;
    }
    return undefined;
  };
}

/** Applies `read` to the object under the first matching key of the value. */
export function within(keys: readonly string[], read: Reader): Reader {
  return (value) => {
    const object = objectOf(value);
    const inner = keys.map((key) => object?.[key]).find(isObject);
    return inner === undefined ? undefined : read(inner);
  };
}

/** Like {@link inside}, one level down, under any key: `{openai: {cachedPromptTokens: 64}}`. */
export function anywhereInside(keys: readonly string[], read: Reader): Reader {
  const readInner = inside(keys, read);
  return (value) => {
    for (const inner of Object.values(objectOf(value) ?? {})) {
      const found = isObject(inner) ? readInner(inner) : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  };
}

/** Tool arguments; undefined for a JSON Schema, which describes the arguments. */
export const toolArguments: Reader = (value) => {
  const object = objectOf(value);
  return object !== undefined && isSchema(object) ? undefined : payload(value);
};

/** A schema of an object, or the schemas of its properties alone. */
function isSchema(object: JsonObject): boolean {
  if (isObject(object.properties)) return true;
  const parts = Object.values(object);
  return parts.length > 0 && parts.every((part) => isObject(part) && typeof part.type === 'string');
}

/** The value as an object, parsed if it is JSON text or printed by Python. Do not change the object, because readers share it. */
export function objectOf(value: JsonValue): JsonObject | undefined {
  const found = typeof value === 'string' ? (parseOnce(value) ?? printedObject(value)) : value;
  return isObject(found) ? found : undefined;
}

/** The last text that {@link printedObject} parsed. */
let lastPrinted = '';
let lastObject: JsonValue | undefined;

/** An object as Python prints it. */
function printedObject(text: string): JsonValue | undefined {
  if (!text.startsWith("{'")) return undefined;
  if (text !== lastPrinted) {
    lastObject = parsePython(text);
    lastPrinted = text;
  }
  return lastObject;
}
