import type { IdKey } from './id-hash.js';

/**
 * How an id and its number lie in memory and in files, in four words: 80 bits of the id's hash, and 48 of the number. Entries are
 * in the order of the hash.
 */
export const ENTRY_WORDS = 4;

const HALF = 0x1_0000;
const WORD = 0x1_0000_0000;

/** @param number a whole number from 1 on, less than 2 to the power of 48 */
export function putEntry(words: Uint32Array, at: number, key: IdKey, number: number): void {
  words[at] = key[0] ?? 0;
  words[at + 1] = key[1] ?? 0;
  words[at + 2] = (key[2] ?? 0) * HALF + Math.floor(number / WORD);
  words[at + 3] = number % WORD;
}

/** The number of an entry; 0 where there is none. */
export function numberAt(words: Uint32Array, at: number): number {
  return ((words[at + 2] ?? 0) % HALF) * WORD + (words[at + 3] ?? 0);
}

/** Negative where the entry comes before the key, 0 where it has the key. */
export function compareWithKey(words: Uint32Array, at: number, key: IdKey): number {
  return (
    (words[at] ?? 0) - (key[0] ?? 0) ||
    (words[at + 1] ?? 0) - (key[1] ?? 0) ||
    ((words[at + 2] ?? 0) >>> 16) - (key[2] ?? 0)
  );
}

/** The order of two entries. */
export function compareEntries(a: Uint32Array, atA: number, b: Uint32Array, atB: number): number {
  return (
    (a[atA] ?? 0) - (b[atB] ?? 0) ||
    (a[atA + 1] ?? 0) - (b[atB + 1] ?? 0) ||
    ((a[atA + 2] ?? 0) >>> 16) - ((b[atB + 2] ?? 0) >>> 16)
  );
}
