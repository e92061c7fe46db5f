import { wordAt } from '../../../signal/checked.js';
import { FILTER_SLICES, TEXT_FILTERS } from '../../schema/tables.js';
import type { Connection } from '../files/connection.js';
import { union, type CommitRange } from '../segments/commit-ranges.js';
import { relation } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';
import { bitsIn } from './positions.js';
import { mixed, seedOf, termHash } from './text-terms.js';

/**
 * Which commits may have which terms in the searched texts of runs. Target: a word that is rare or missing among 10 million spans in one
 * or two seconds; without filters each search reads all payloads, which takes 10 seconds per million spans.
 */

/** Bits of a slice while it is filled; it is then folded until half of its bits are set. */
const SLICE_BITS = 65_536;
const SLICE_WORDS = SLICE_BITS / 32;
const SMALLEST_BITS = 64;
/** Bits that a term sets: at half of all bits set, one of 128 terms is found by mistake. */
const BITS_OF_TERM = 7;
/** Hashes that were added last are not added again. */
const RECENT = 8192;

/** A term's slice, and its bits in a slice of any size: each modulo the number of bits. */
function placeOf(hash: number): { readonly slice: number; readonly first: number; readonly step: number } {
  const bits = mixed(hash);
  return { slice: bits >>> 28, first: bits & 0xffff, step: (Math.imul(hash, 0x9e3779b1) >>> 16) | 1 };
}

/** A set of terms that may find others, too. */
export class TermFilter {
  readonly #words = new Uint32Array(FILTER_SLICES * SLICE_WORDS);
  readonly #recent = new Int32Array(RECENT);

  constructor() {
    this.#forgetRecent();
  }

  add(hash: number): void {
    const place = hash & (RECENT - 1);
    if (this.#recent[place] === hash) return;
    this.#recent[place] = hash;
    const { slice, first, step } = placeOf(hash);
    for (let i = 0, bit = first; i < BITS_OF_TERM; i++, bit = (bit + step) & (SLICE_BITS - 1)) {
      const at = slice * SLICE_WORDS + (bit >>> 5);
      this.#words[at] = wordAt(this.#words, at) | (1 << (bit & 31));
    }
  }

  /** The slices, as small as possible; the filter is then empty. */
  take(): Uint8Array[] {
    const slices = Array.from({ length: FILTER_SLICES }, (_, slice) =>
      folded(this.#words.slice(slice * SLICE_WORDS, (slice + 1) * SLICE_WORDS)),
    );
    this.#words.fill(0);
    this.#forgetRecent();
    return slices;
  }

  #forgetRecent(): void {
    this.#recent.fill(0);
    // The place of the hash 0 has one that belongs elsewhere.
    this.#recent[0] = 1;
  }
}

/** Halves a slice while at most half of the bits would be set. */
function folded(words: Uint32Array): Uint8Array {
  let kept = words;
  while (kept.length * 32 > SMALLEST_BITS) {
    const half = kept.length / 2;
    const smaller = kept.slice(0, half).map((word, i) => word | wordAt(kept, half + i));
    if (smaller.reduce((sum, word) => sum + bitsIn(word), 0) > half * 16) break;
    kept = smaller;
  }
  const bytes = new Uint8Array(kept.buffer, kept.byteOffset, kept.byteLength);
  return bytes.map((byte) => REVERSED[byte] ?? 0);
}

/** Each byte with its bits in reverse: DuckDB numbers them from the highest one. */
const REVERSED = Uint8Array.from({ length: 256 }, (_, byte) =>
  Array.from({ length: 8 }, (_, bit) => (byte & (1 << bit) ? 0x80 >>> bit : 0)).reduce(
    (sum, one) => sum | one,
  ),
);

/** Slices that have every term. */
export const EVERYTHING = Array.from({ length: FILTER_SLICES }, () => new Uint8Array([0xff]));

/**
 * The commits that may have all terms of a condition in one text, for each condition: by their filters, or because they have none.
 *
 * @param conditions terms of each
 */
export async function commitsWith(
  connection: Connection,
  capture: Capture,
  tenant: number,
  conditions: readonly (readonly string[])[],
): Promise<CommitRange[][]> {
  const seed = seedOf(tenant);
  const masks = conditions.map(
    (terms, i) =>
      `CASE WHEN ${terms.map((term) => hasTerm(termHash(seed, term))).join(' AND ')} THEN ${2 ** i} ELSE 0 END`,
  );
  const rows = await connection.rows(
    `SELECT first_seq, last_seq, (${masks.join(' | ')})::INTEGER AS mask FROM ${relation(capture, TEXT_FILTERS)} ORDER BY first_seq`,
  );
  const without: CommitRange[] = [];
  let next = 1;
  for (const { first_seq: first, last_seq: last } of rows) {
    if (Number(first) > next) without.push({ first: next, last: Number(first) - 1 });
    next = Math.max(next, Number(last) + 1);
  }
  without.push({ first: next, last: Number.MAX_SAFE_INTEGER });
  return conditions.map((_, i) =>
    union([
      ...without,
      ...rows
        .filter(({ mask }) => (Number(mask) & (2 ** i)) !== 0)
        .map(({ first_seq: first, last_seq: last }) => ({ first: Number(first), last: Number(last) })),
    ]),
  );
}

/** The condition that a filter has a term, in SQL. */
function hasTerm(hash: number): string {
  const { slice, first, step } = placeOf(hash);
  const column = `slice_${slice}`;
  return Array.from({ length: BITS_OF_TERM }, (_, i) => {
    const bit = (first + i * step) & (SLICE_BITS - 1);
    return `get_bit(${column}::BIT, (${bit} & (8 * octet_length(${column}) - 1))::INTEGER) = 1`;
  }).join(' AND ');
}
