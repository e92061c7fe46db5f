import { createHash } from 'node:crypto';

/**
 * A seeded random number generator (sfc32, public domain). Not for secrets.
 */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter: number;

  /** @param key the seed; equal keys give equal sequences on every machine */
  constructor(key: string) {
    const digest = createHash('sha256').update(key).digest();
    this.#a = digest.readInt32LE(0);
    this.#b = digest.readInt32LE(4);
    this.#c = digest.readInt32LE(8);
    this.#counter = digest.readInt32LE(12);
  }

  /** Returns an integer from 0 to 2^32 - 1. */
  uint32(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  /** Returns a number from 0 to below 1. */
  float(): number {
    return this.uint32() / 2 ** 32;
  }

  /** Returns an integer from min to max, both included. */
  integer(min: number, max: number): number {
    return min + Math.floor(this.float() * (max - min + 1));
  }

  /** Returns a random member. @throws RangeError if the list is empty */
  pick<T>(list: readonly T[]): T {
    const index = this.integer(0, list.length - 1);
    if (index >= list.length || list.length === 0) throw new RangeError('Cannot pick from an empty list.');
    return list[index] as T;
  }

  /** Returns a random member, weighted. @throws RangeError if the list is empty */
  weighted<T>(list: readonly T[], weightOf: (item: T) => number): T {
    let point = this.float() * list.reduce((sum, item) => sum + weightOf(item), 0);
    for (const item of list) {
      point -= weightOf(item);
      if (point < 0) return item;
    }
    return this.pick(list);
  }
}
