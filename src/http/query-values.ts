import type { TObject } from 'typebox';
import type { FieldError } from '../component/http.js';

/** Parses without backtracking, however long the text is. */
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?$/;
/** In a query, the `+` of an offset arrives as a space unless it was escaped. The space before the hour does not match. */
const UNESCAPED_OFFSET = / (?=\d{2}(?::?\d{2})?$)/;
/** Length of the longest date-time: `2026-11-03T08:15:30.123456789+01:00`. */
const MAX_TIME_LENGTH = 35;
/** Length of the date, the separator, the hour and its colon: `2026-11-03T08:`. */
const BEFORE_MINUTES = 14;

interface ValueSchema {
  readonly type?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  /** Whether the schema refuses values below the minimum instead of clamping them. */
  readonly refusesLess?: boolean;
  /** For an object: collects all parameters with this prefix, by name without the prefix. */
  readonly prefix?: string;
}

/**
 * Converts query parameters to the types of their schemas: numbers are clamped to their bounds, integers truncated, UUIDs
 * lower-cased. Parameters without a schema are ignored, absent ones stay absent, and a repeated one is an error unless it is a list
 * of texts. Everything else is left to validation.
 *
 * @param errors receives one entry for each parameter that is repeated, or whose text is not a number or boolean
 */
export function readQuery(
  schema: TObject,
  query: URLSearchParams,
  errors: FieldError[],
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(schema.properties)) {
    const { prefix } = property as ValueSchema;
    if (prefix !== undefined) {
      const found = readPrefixed(prefix, query, errors);
      if (found.length > 0) values[name] = Object.fromEntries(found);
      continue;
    }
    const [text, second] = query.getAll(name);
    if (text === undefined) continue;
    if ((property as ValueSchema).type === 'array') {
      values[name] = query.getAll(name);
      continue;
    }
    if (second !== undefined) {
      errors.push({ field: name, message: 'occurs more than once' });
      continue;
    }
    const value = readValue(property, text);
    if (typeof value === 'object') errors.push({ field: name, message: value.problem });
    else values[name] = value;
  }
  return values;
}

/** The parameters with a prefix, by name without the prefix. */
function readPrefixed(prefix: string, query: URLSearchParams, errors: FieldError[]): [string, string][] {
  const found = new Map<string, string>();
  for (const [name, text] of query) {
    if (!name.startsWith(prefix)) continue;
    if (found.has(name)) errors.push({ field: name, message: 'occurs more than once' });
    found.set(name, text);
  }
  return [...found].map(([name, text]) => [name.slice(prefix.length), text]);
}

/** Converts the placeholders of a path in the same way. Integers consist of digits and are not clamped. */
export function readParams(
  schema: TObject,
  params: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(schema.properties)) {
    const text = params[name];
    if (text === undefined) continue;
    const { type } = property as ValueSchema;
    values[name] = type === 'integer' && /^\d{1,16}$/.test(text) ? Number(text) : normalize(property, text);
  }
  return values;
}

function readValue(
  schema: ValueSchema,
  text: string,
): string | number | boolean | { readonly problem: string } {
  switch (schema.type) {
    case 'integer':
    case 'number':
      return NUMBER.test(text) ? clamp(schema, Number(text)) : { problem: 'must be a number' };
    case 'boolean':
      return text === 'true' || (text === 'false' ? false : { problem: 'must be true or false' });
    default:
      return normalize(schema, text);
  }
}

function clamp(schema: ValueSchema, value: number): number {
  const { minimum = -Number.MAX_VALUE, maximum = Number.MAX_VALUE, refusesLess = false } = schema;
  const whole = schema.type === 'integer' ? Math.trunc(value) : value;
  return Math.min(refusesLess ? whole : Math.max(whole, minimum), maximum);
}

function normalize(schema: ValueSchema, text: string): string {
  if (schema.format === 'uuid') return text.toLowerCase();
  if (schema.format !== 'date-time' || text.length > MAX_TIME_LENGTH) return text;
  return text.slice(0, BEFORE_MINUTES) + text.slice(BEFORE_MINUTES).replace(UNESCAPED_OFFSET, '+');
}
