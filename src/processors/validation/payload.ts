import type { JsonValue } from '../../signal/attributes.js';

/**
 * Finds payloads that cannot be stored and returned unchanged: too many levels, numbers that JSON cannot represent, or unpaired
 * surrogates, which UTF-8 cannot represent. Never descends below `maxDepth`.
 *
 * @param maxDepth the payload itself is the first level
 * @returns the problem, as the rest of a sentence, or undefined.
 */
export function findUnstorable(payload: JsonValue, maxDepth: number): string | undefined {
  return inspect(payload, maxDepth, maxDepth);
}

function inspect(value: JsonValue, levels: number, maxDepth: number): string | undefined {
  if (typeof value === 'string') return value.isWellFormed() ? undefined : HALF_SURROGATE;
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : NOT_FINITE;
  if (typeof value !== 'object' || value === null) return undefined;
  if (levels === 0) return `must not nest deeper than ${maxDepth} levels`;
  if (Array.isArray(value)) {
    for (const child of value) {
      const found = inspect(child, levels - 1, maxDepth);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  // for-in is twice as fast here as Object.keys: payloads are plain data, whose prototype has no enumerable keys.
  for (const key in value) {
    if (!key.isWellFormed()) return HALF_SURROGATE;
    const found = inspect(value[key] ?? null, levels - 1, maxDepth);
    if (found !== undefined) return found;
  }
  return undefined;
}

export const HALF_SURROGATE = 'must not contain half of a surrogate pair, which is not a character';
const NOT_FINITE = 'must not contain a number too large for a double';
