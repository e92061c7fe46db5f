import { wordAt } from '../../../signal/checked.js';

/**
 * An id and its number in four words, in memory and in files: 80 bits of the id's hash, then 48 of the number. Entries are sorted
 * by hash.
 */
export const ENTRY_WORDS = 4;

/** The hash of an id, as the first three words of an entry whose number is 0. */
export type IdKey = Uint32Array;

const HALF = 0x1_0000;
const WORD = 0x1_0000_0000;

/** @param number a whole number from 1 on, less than 2 to the power of 48 */
export function putEntry(words: Uint32Array, at: number, key: IdKey, number: number): void {
  words[at] = wordAt(key, 0);
  words[at + 1] = wordAt(key, 1);
  words[at + 2] = wordAt(key, 2) + Math.floor(number / WORD);
  words[at + 3] = number % WORD;
}

/** The number of an entry; 0 if the entry is empty. */
export function numberAt(words: Uint32Array, at: number): number {
  return (wordAt(words, at + 2) % HALF) * WORD + wordAt(words, at + 3);
}

/** The order of two entries, or of an entry and a key at 0. */
export function compareEntries(a: Uint32Array, atA: number, b: Uint32Array, atB: number): number {
  return (
    wordAt(a, atA) - wordAt(b, atB) ||
    wordAt(a, atA + 1) - wordAt(b, atB + 1) ||
    (wordAt(a, atA + 2) >>> 16) - (wordAt(b, atB + 2) >>> 16)
  );
}

/**
 * Hashes of the ids of users: 80 bits that cannot be predicted without the key, and that in practice no two ids share (with a
 * thousand million ids the odds are one in two million). HalfSipHash-1-3, its finalization repeated for more bits (J.-P.
 * Aumasson, D. J. Bernstein: SipHash; github.com/veorq/SipHash).
 */
export class IdHash {
  /** Two words. */
  readonly key: Uint32Array;
  readonly #found = new Uint32Array(3);

  constructor(key: Uint32Array) {
    this.key = key;
  }

  /**
   * @param words an id in four words, from `offset` on
   * @returns the hash; the next call uses the same array
   */
  of(tenant: number, words: Uint32Array, offset: number): IdKey {
    const found = this.#found;
    const [k0, k1] = [wordAt(this.key, 0), wordAt(this.key, 1)];
    v0 = k0;
    v1 = k1 ^ 0xee;
    v2 = k0 ^ 0x6c796765;
    v3 = k1 ^ 0x74656462;
    take(tenant);
    for (let i = 0; i < 4; i++) take(wordAt(words, offset + i));
    take(HASHED_BYTES << 24);
    v2 ^= 0xee;
    found[0] = finish();
    v1 ^= 0xdd;
    found[1] = finish();
    v1 ^= 0xcc;
    found[2] = finish() << 16;
    return found;
  }
}

/** A tenant and an id. */
const HASHED_BYTES = 20;

/** The state: a call runs to its end before another begins. */
let v0 = 0;
let v1 = 0;
let v2 = 0;
let v3 = 0;

function take(word: number): void {
  v3 ^= word;
  round();
  v0 ^= word;
}

function finish(): number {
  round();
  round();
  round();
  return v1 ^ v3;
}

function round(): void {
  v0 = (v0 + v1) | 0;
  v1 = rotate(v1, 5) ^ v0;
  v0 = rotate(v0, 16);
  v2 = (v2 + v3) | 0;
  v3 = rotate(v3, 8) ^ v2;
  v0 = (v0 + v3) | 0;
  v3 = rotate(v3, 7) ^ v0;
  v2 = (v2 + v1) | 0;
  v1 = rotate(v1, 13) ^ v2;
  v2 = rotate(v2, 16);
}

function rotate(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}
