import { randomBytes } from 'node:crypto';
import { intAt, wordAt } from '../../signal/checked.js';

/** Numbers ids from 0 on, in the order in which they come. Ids are keys of eight UTF-16 units: `uuidKey`. */
export class IdRows {
  /** Four words for each id, whose order is that of the ids. */
  #words = new Uint32Array(4 * FIRST_ROWS);
  /** Hash slots: one more than the number of a row; 0 for an empty one. */
  #slots = new Int32Array(FIRST_ROWS * 2);
  #size = 0;
  // Ids are untrusted: without a secret seed, an attacker could choose ids that collide.
  readonly #seed = randomBytes(4).readUInt32LE();
  readonly #key = new Uint32Array(4);

  get size(): number {
    return this.#size;
  }

  /** @returns -1 if missing */
  find(key: string): number {
    this.#read(key);
    return intAt(this.#slots, this.#slot()) - 1;
  }

  /** The number of an id; a new one gets the next number. */
  number(key: string): number {
    this.#read(key);
    const slot = this.#slot();
    const known = intAt(this.#slots, slot);
    if (known > 0) return known - 1;
    const row = this.#size++;
    if (row * 4 === this.#words.length) this.#words = grown(this.#words, Uint32Array);
    this.#words.set(this.#key, row * 4);
    this.#slots[slot] = row + 1;
    if (this.#size * 2 > this.#slots.length) this.#rehash();
    return row;
  }

  /** The id of a row, as a key. */
  key(row: number): string {
    const at = row * 4;
    const units: number[] = [];
    for (let i = at; i < at + 4; i++) {
      const word = wordAt(this.#words, i);
      units.push(word >>> 16, word & 0xffff);
    }
    return String.fromCharCode(...units);
  }

  /** Negative where the id of the first row comes before that of the second. */
  compare(a: number, b: number): number {
    for (let i = 0; i < 4; i++) {
      const difference = wordAt(this.#words, a * 4 + i) - wordAt(this.#words, b * 4 + i);
      if (difference !== 0) return difference;
    }
    return 0;
  }

  #read(key: string): void {
    for (let i = 0; i < 4; i++) {
      this.#key[i] = ((key.charCodeAt(i * 2) << 16) | key.charCodeAt(i * 2 + 1)) >>> 0;
    }
  }

  /** The slot where the key that was read is, or would be. */
  #slot(): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    const key = this.#key;
    let slot = hash(this.#seed, key, 0) & mask;
    for (; ; slot = (slot + 1) & mask) {
      const row = intAt(slots, slot) - 1;
      if (row < 0) return slot;
      const at = row * 4;
      const words = this.#words;
      if (
        words[at] === key[0] &&
        words[at + 1] === key[1] &&
        words[at + 2] === key[2] &&
        words[at + 3] === key[3]
      ) {
        return slot;
      }
    }
  }

  #rehash(): void {
    const slots = new Int32Array(this.#slots.length * 2);
    const mask = slots.length - 1;
    for (let row = 0; row < this.#size; row++) {
      let slot = hash(this.#seed, this.#words, row * 4) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = row + 1;
    }
    this.#slots = slots;
  }
}

export const FIRST_ROWS = 256;

/** A copy with twice the room. */
export function grown<Numbers extends Int32Array | Uint32Array | Float64Array | Uint8Array>(
  numbers: Numbers,
  type: new (length: number) => Numbers,
): Numbers {
  const more = new type(numbers.length * 2);
  more.set(numbers);
  return more;
}

/** MurmurHash3 of four words. */
function hash(seed: number, words: Uint32Array, at: number): number {
  let h = seed;
  for (let i = at; i < at + 4; i++) {
    let k = Math.imul(wordAt(words, i), 0xcc9e2d51);
    k = (k << 15) | (k >>> 17);
    h ^= Math.imul(k, 0x1b873593);
    h = (h << 13) | (h >>> 19);
    h = Math.imul(h, 5) + 0xe6546b64;
  }
  h ^= h >>> 16;
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
