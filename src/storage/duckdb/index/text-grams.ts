import { byteAt } from '../../../signal/checked.js';

/** A text is represented by every four consecutive bytes in it; fewer would tell too little apart. */
const GRAM_BYTES = 4;
/** The size while texts are added; what is kept is as small as they allow. */
const MOST_BITS = 2 ** 20;
const LEAST_BITS = 2 ** 10;
/** The greatest share of bits that may be set in what is kept, so that an absent gram passes one time in eight. */
const KEPT_SHARE = 1 / 8;
/** With more bits set than this share, hardly any text could be ruled out. */
const FULL_SHARE = 1 / 2;
/** How many grams of a searched text are checked; more would rule out nothing that these do not. */
const MOST_ASKED = 24;
/** How many hashes stand for a text that is looked for as a whole. */
const WHOLE_HASHES = 4;

/**
 * Which grams certain texts have, or which texts there are: a Bloom filter. It says of a text either that none of them contains it, or that
 * one may. It is stored (`text_blocks`), so neither the grams nor their hashes may ever change.
 */
export class TextGrams {
  readonly #bits = new Uint8Array(MOST_BITS / 8);

  /** @param text UTF-8 */
  add(text: Uint8Array): void {
    let gram = 0;
    for (let at = 0; at < text.length; at++) {
      gram = (gram << 8) | byteAt(text, at);
      if (at < GRAM_BYTES - 1) continue;
      this.#set(hashOf(gram));
    }
  }

  #set(hash: number): void {
    const place = hash % MOST_BITS;
    const byte = place >>> 3;
    this.#bits[byte] = byteAt(this.#bits, byte) | (0x80 >>> (place & 7));
  }

  /** Adds a text that is looked for only as a whole. @param text UTF-8 */
  addWhole(text: Uint8Array): void {
    for (const hash of wholeHashes(text)) this.#set(hash);
  }

  /**
   * The bits, starting with the highest of the first byte, as few as keep {@link KEPT_SHARE}. A gram's place is its hash modulo
   * their number, which is a power of two: so the halves can be laid on top of each other.
   *
   * @returns null where the texts have so many grams that it would be of no use
   */
  print(): Uint8Array | null {
    let bits: Uint8Array = this.#bits;
    if (share(bits) > FULL_SHARE) return null;
    while (bits.length * 8 > LEAST_BITS) {
      const half = bits.length / 2;
      const folded = bits.slice(0, half);
      for (let at = 0; at < half; at++) folded[at] = byteAt(folded, at) | byteAt(bits, half + at);
      if (share(folded) > KEPT_SHARE) break;
      bits = folded;
    }
    return bits;
  }
}

/**
 * The hashes of the grams in a text, which every text that contains it has, too. None where it is too short.
 *
 * @param text UTF-8
 */
export function gramHashes(text: Uint8Array): number[] {
  const hashes = new Set<number>();
  let gram = 0;
  for (let at = 0; at < text.length && hashes.size < MOST_ASKED; at++) {
    gram = (gram << 8) | byteAt(text, at);
    if (at >= GRAM_BYTES - 1) hashes.add(hashOf(gram));
  }
  return [...hashes];
}

/** The hashes of a text as a whole: with several, few others have the same. @param text UTF-8 */
export function wholeHashes(text: Uint8Array): number[] {
  let hash = text.length;
  for (const byte of text) hash = Math.imul(hash ^ byte, 0x01000193);
  return Array.from({ length: WHOLE_HASHES }, (_, i) => hashOf(hashOf(hash) + Math.imul(i, 0x9e3779b9)));
}

/** The finalizer of MurmurHash3: each bit of the gram changes about half of the bits of the result. */
function hashOf(gram: number): number {
  let hash = gram;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function share(bits: Uint8Array): number {
  let set = 0;
  for (const byte of bits) for (let left = byte; left !== 0; left &= left - 1) set++;
  return set / (bits.length * 8);
}
