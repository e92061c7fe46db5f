import { wordAt } from '../../../signal/checked.js';
import { BLOCK_RECORDS } from './compact-logs.js';

const WORD_BITS = 32;
const BITMAP_WORDS = BLOCK_RECORDS / WORD_BITS;
/** From this many on, a bit for each position of the block takes less room than a list. */
const MANY = (BITMAP_WORDS * 4) / 2;

/** Up to this many records are read by position; for more, the whole range is read. */
export const FEW_POSITIONS = 1000;

/** Positions within a block, both ends included. */
export interface PositionRange {
  readonly first: number;
  readonly last: number;
}

/** The positions within a block that a search found, in 8 KiB at most. */
export class Positions {
  readonly count: number;
  readonly #kept: PositionRange | Uint16Array | Uint32Array;

  private constructor(count: number, kept: PositionRange | Uint16Array | Uint32Array) {
    this.count = count;
    this.#kept = kept;
  }

  static within(range: PositionRange): Positions {
    return new Positions(range.last - range.first + 1, range);
  }

  /** @param positions ascending */
  static of(positions: Uint16Array): Positions {
    if (positions.length < MANY) return new Positions(positions.length, positions);
    const bits = new Uint32Array(BITMAP_WORDS);
    for (const position of positions)
      bits[position >>> 5] = wordAt(bits, position >>> 5) | (1 << (position & 31));
    return new Positions(positions.length, bits);
  }

  get bytes(): number {
    return ArrayBuffer.isView(this.#kept) ? this.#kept.byteLength : 0;
  }

  /** The positions at some places. @param places ascending, 0 for the last position */
  fromEnd(places: readonly number[]): number[] {
    const kept = this.#kept;
    if (!ArrayBuffer.isView(kept)) return places.map((place) => kept.last - place);
    // Fewer if retention has removed the block since; then the record is gone, too.
    if (kept instanceof Uint16Array) return places.map((place) => kept[kept.length - 1 - place] ?? 0);
    return fromEndOfBits(kept, places);
  }
}

function fromEndOfBits(bits: Uint32Array, places: readonly number[]): number[] {
  const found: number[] = [];
  let word = bits.length;
  /** How many positions come after the word, and how many are in it. */
  let [behind, within] = [0, 0];
  for (const place of places) {
    while (behind + within <= place && word > 0) {
      behind += within;
      within = bitsIn(wordAt(bits, --word));
    }
    found.push(word * WORD_BITS + nthBitFromTop(wordAt(bits, word), place - behind));
  }
  return found;
}

/** How many bits of a 32-bit word are set. */
export function bitsIn(word: number): number {
  let rest = word - ((word >>> 1) & 0x55555555);
  rest = (rest & 0x33333333) + ((rest >>> 2) & 0x33333333);
  return (((rest + (rest >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
}

/** @param n 0 for the highest bit that is set */
function nthBitFromTop(word: number, n: number): number {
  let rest = word >>> 0;
  for (let i = 0; i < n; i++) rest = (rest & ~(1 << (31 - Math.clz32(rest)))) >>> 0;
  return 31 - Math.clz32(rest);
}
