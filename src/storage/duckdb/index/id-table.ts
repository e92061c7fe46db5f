import { wordAt } from '../../../signal/checked.js';
import { compareEntries, ENTRY_WORDS, numberAt, putEntry, type IdKey } from './id-entry.js';

/**
 * Ids and their numbers in memory, always in the order of their hashes: an id's place is given by the first bits of its hash;
 * where others have taken it, they all follow, in order. So a table becomes a file without being sorted.
 */
export class IdTable {
  #bits: number;
  #words: Uint32Array;
  #size = 0;

  /**
   * @param bits the table has room for a little more than 2 to this power of entries, and works best when it is at most 60 % full
   */
  constructor(bits: number) {
    this.#bits = bits;
    this.#words = wordsFor(bits);
  }

  get size(): number {
    return this.#size;
  }

  get bytes(): number {
    return this.#words.byteLength;
  }

  /** Whether one more id would make it slow. */
  get isFull(): boolean {
    return this.#size >= 2 ** this.#bits * FULL;
  }

  /** The id's number; 0 if not found. */
  find(key: IdKey): number {
    const words = this.#words;
    const at = this.#place(key);
    return at < words.length && compareEntries(words, at, key, 0) === 0 ? numberAt(words, at) : 0;
  }

  /** Sets the number of an id. Grows if necessary. */
  put(key: IdKey, number: number): void {
    const at = this.#place(key);
    const words = this.#words;
    if (at < words.length && numberAt(words, at) > 0 && compareEntries(words, at, key, 0) === 0) {
      putEntry(words, at, key, number);
      return;
    }
    // Shifts the following entries by one, up to the next free place.
    let free = at;
    while (free < words.length && numberAt(words, free) > 0) free += ENTRY_WORDS;
    if (free >= words.length || this.#size >= 2 ** this.#bits * FULLEST) {
      this.#grow();
      this.put(key, number);
      return;
    }
    words.copyWithin(at + ENTRY_WORDS, at, free);
    putEntry(words, at, key, number);
    this.#size++;
  }

  /** The entries in order, some at a time. */
  *pages(): Generator<Uint32Array, void> {
    const words = this.#words;
    for (let from = 0; from < words.length; from += PIECE_WORDS) {
      const end = Math.min(words.length, from + PIECE_WORDS);
      const entries = new Uint32Array(end - from);
      let to = 0;
      for (let at = from; at < end; at += ENTRY_WORDS) {
        if (numberAt(words, at) === 0) continue;
        for (let i = 0; i < ENTRY_WORDS; i++) entries[to++] = wordAt(words, at + i);
      }
      if (to > 0) yield entries.subarray(0, to);
    }
  }

  /** The place of the id, or the one where it would be inserted: the first place that is free or has no earlier entry. */
  #place(key: IdKey): number {
    const words = this.#words;
    let at = (wordAt(key, 0) >>> (32 - this.#bits)) * ENTRY_WORDS;
    while (at < words.length && numberAt(words, at) > 0 && compareEntries(words, at, key, 0) < 0)
      at += ENTRY_WORDS;
    return at;
  }

  #grow(): void {
    const before = this.#words;
    this.#bits++;
    this.#words = wordsFor(this.#bits);
    // In order, so each goes to its own place or right after the last one.
    let free = 0;
    for (let at = 0; at < before.length; at += ENTRY_WORDS) {
      if (numberAt(before, at) === 0) continue;
      const home = (wordAt(before, at) >>> (32 - this.#bits)) * ENTRY_WORDS;
      const to = Math.max(home, free);
      this.#words.set(before.subarray(at, at + ENTRY_WORDS), to);
      free = to + ENTRY_WORDS;
    }
  }
}

const FULL = 0.6;
/** A commit adds all its ids at once, without a limit. */
const FULLEST = 0.8;
/** Extra places at the end, for entries that have no room in their own. */
const BEHIND = 256;
/** How much of a table is written at once. */
const PIECE_WORDS = 1024 * ENTRY_WORDS;

function wordsFor(bits: number): Uint32Array {
  return new Uint32Array((2 ** bits + BEHIND) * ENTRY_WORDS);
}
