/**
 * Invariants that the types cannot express. Each function throws if its invariant is violated, which is a bug and never a client's error,
 * so that no wrong value is counted or stored.
 *
 * There is one reader for each kind of typed array, because one for all would be slow where it is called for every span.
 */

/** The item at an index that the list has. @throws RangeError */
export function itemAt<T>(list: ArrayLike<T>, index: number): T {
  const item = list[index];
  if (item === undefined) throw outside(index, list.length);
  return item;
}

/** The same as {@link itemAt}. */
export function wordAt(words: Uint32Array, index: number): number {
  const word = words[index];
  if (word === undefined) throw outside(index, words.length);
  return word;
}

/** The same as {@link itemAt}. */
export function intAt(ints: Int32Array, index: number): number {
  const int = ints[index];
  if (int === undefined) throw outside(index, ints.length);
  return int;
}

/** The same as {@link itemAt}. */
export function doubleAt(doubles: Float64Array, index: number): number {
  const double = doubles[index];
  if (double === undefined) throw outside(index, doubles.length);
  return double;
}

/** The same as {@link itemAt}. */
export function shortAt(shorts: Uint16Array, index: number): number {
  const short = shorts[index];
  if (short === undefined) throw outside(index, shorts.length);
  return short;
}

/** As {@link itemAt}; also of a `Buffer`. */
export function byteAt(bytes: Uint8Array, index: number): number {
  const byte = bytes[index];
  if (byte === undefined) throw outside(index, bytes.length);
  return byte;
}

/** Asserts that a value is defined. @param what names it in the error @throws Error */
export function invariant<T>(value: T | null | undefined, what: string): T {
  if (value === null || value === undefined) throw new Error(`There is no ${what}, which cannot be.`);
  return value;
}

function outside(index: number, length: number): RangeError {
  return new RangeError(`There is no place ${index} in a list of ${length}.`);
}
