import { wordAt } from '../../../signal/checked.js';
import type { IdKey } from './id-hash.js';

/**
 * The layout of an id and its number in memory and in files, in four words: 80 bits of the id's hash, and 48 of the number.
 * Entries are sorted by hash.
 */
export const ENTRY_WORDS = 4;

const HALF = 0x1_0000;
const WORD = 0x1_0000_0000;

/** @param number a whole number from 1 on, less than 2 to the power of 48 */
export function putEntry(words: Uint32Array, at: number, key: IdKey, number: number): void {
  words[at] = wordAt(key, 0);
  words[at + 1] = wordAt(key, 1);
  words[at + 2] = wordAt(key, 2) * HALF + Math.floor(number / WORD);
  words[at + 3] = number % WORD;
}

/** The number of an entry; 0 if the entry is empty. */
export function numberAt(words: Uint32Array, at: number): number {
  return (wordAt(words, at + 2) % HALF) * WORD + wordAt(words, at + 3);
}

/** Negative if the entry sorts before the key, 0 if it has the key. */
export function compareWithKey(words: Uint32Array, at: number, key: IdKey): number {
  return (
    wordAt(words, at) - wordAt(key, 0) ||
    wordAt(words, at + 1) - wordAt(key, 1) ||
    (wordAt(words, at + 2) >>> 16) - wordAt(key, 2)
  );
}

/** The order of two entries. */
export function compareEntries(a: Uint32Array, atA: number, b: Uint32Array, atB: number): number {
  return (
    wordAt(a, atA) - wordAt(b, atB) ||
    wordAt(a, atA + 1) - wordAt(b, atB + 1) ||
    (wordAt(a, atA + 2) >>> 16) - (wordAt(b, atB + 2) >>> 16)
  );
}
