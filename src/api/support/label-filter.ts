import { validationProblem } from '../../http/field-errors.js';
import type { JsonObject, JsonValue } from '../../signal/attributes.js';
import { parseJson } from '../../signal/json.js';

/** Maximum number of pairs in a filter. */
export const MAX_PAIRS = 64;

/**
 * Parses the label filter of a query: a JSON object. Numbers and booleans are compared as text, as in labels: integers with all
 * their digits.
 *
 * @throws HttpProblem 422 with the problem of `labels`
 */
export function labelFilter(text: string): Record<string, string> {
  const pairs = Object.entries(parseObject(text)).map(([key, value]): [string, string] => {
    if (typeof value === 'string') return [key, value];
    if (value !== null && typeof value !== 'object') return [key, String(value)];
    throw broken('must contain only texts, numbers and booleans');
  });
  if (pairs.length > MAX_PAIRS) throw broken(`must not contain more than ${MAX_PAIRS} pairs`);
  return Object.fromEntries(pairs);
}

function parseObject(text: string): JsonObject {
  let value: JsonValue;
  try {
    value = parseJson(text);
  } catch {
    throw broken('must be JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw broken('must be a JSON object');
  return value;
}

function broken(message: string) {
  return validationProblem('query', [{ field: 'labels', message }]);
}
