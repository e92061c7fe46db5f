/**
 * A deep copy of plain data: objects, arrays, and values that cannot change. Several times faster than
 * `structuredClone`, which also looks for everything that a batch never holds.
 */
export function copyPlain<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  // Bytes are not changed in place by anyone, so that sharing them is safe; spreading them would not be a copy.
  if (ArrayBuffer.isView(value)) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => copyPlain(item)) as T;
  const copy: Record<string, unknown> = {};
  for (const [key, child] of Object.entries(value)) {
    // Assigning `__proto__` would change the copy's prototype instead of giving it that key.
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
