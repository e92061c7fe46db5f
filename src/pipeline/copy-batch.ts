import { copyCarrying } from '../signal/sent-span.js';

/**
 * A deep copy of plain data: objects, arrays and immutable values. Several times faster than `structuredClone`, which also
 * handles types that a batch never contains.
 */
export function copyPlain<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  // No component changes bytes in place, so they are shared.
  if (ArrayBuffer.isView(value)) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => copyPlain(item)) as T;
  const carrying = copyCarrying(value, copyPlain);
  if (carrying !== undefined) return carrying as T;
  const copy: Record<string, unknown> = {};
  for (const [key, child] of Object.entries(value)) {
    // Assigning `__proto__` would change the copy's prototype instead of adding the key.
    if (key === '__proto__')
      Object.defineProperty(copy, key, {
        value: copyPlain(child),
        writable: true,
        enumerable: true,
        configurable: true,
      });
    else copy[key] = copyPlain(child);
  }
  return copy as T;
}
