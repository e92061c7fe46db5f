import type { JsonObject, JsonValue } from '../../../signal/attributes.js';

/**
 * A distribution as answers show it, from its stored text: what is kept as a text there (integers beyond 2^53, and what is no number that
 * JSON has) becomes a number or null.
 */
export function shownDistribution(text: string): JsonObject {
  return JSON.parse(text, (_, value: JsonValue) =>
    typeof value === 'string' ? finiteOrNull(Number(value)) : value,
  ) as JsonObject;
}

/** JSON has no NaN and no infinity. */
export function finiteOrNull(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}
