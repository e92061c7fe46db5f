import type { JsonObject, JsonValue } from '../../../signal/attributes.js';

/**
  * The API form of a stored distribution: texts in it (integers beyond 2^53, and numbers that JSON lacks) become numbers or null.
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
