import { validationProblem } from '../../http/field-errors.js';

/** Pairs that a filter may ask for. */
export const MAX_PAIRS = 64;

/**
 * Reads the label filter of a query: a JSON object. Numbers and booleans are compared by their text, as labels hold them.
 *
 * @throws HttpProblem 422 that says what is wrong with `labels`
 */
export function labelFilter(text: string): Record<string, string> {
  const pairs = Object.entries(parseObject(text)).map(([key, value]): [string, string] => {
    if (typeof value === 'string') return [key, value];
    if (typeof value === 'number' || typeof value === 'boolean') return [key, String(value)];
    throw broken('must contain only texts, numbers and booleans');
  });
  if (pairs.length > MAX_PAIRS) throw broken(`must not contain more than ${MAX_PAIRS} pairs`);
  return Object.fromEntries(pairs);
}

function parseObject(text: string): object {
  let value: unknown;
  try {
    value = JSON.parse(text);
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
