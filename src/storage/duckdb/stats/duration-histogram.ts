import { doubleAt, must, wordAt } from '../../../signal/checked.js';

/** Where the order statistics of a rank lie among the values, and how much the upper one counts. */
export interface Quantile {
  /** They are at least this, … */
  readonly from: number;
  /** … and less than this. */
  readonly to: number;
  /** How many values lie in that range. */
  readonly count: number;
  /** How many of these come before the lower of the two. */
  readonly skip: number;
  /** How many values to read from there: 1 where the rank falls on a value, otherwise 2. */
  readonly values: 1 | 2;
  /** Weight of the second value, from 0 to 1. */
  readonly fraction: number;
}

/** How many bits of a double are dropped: 11 bits of exponent and 5 of the fraction stay, so a bucket is at most 3 % wide. */
const DROPPED_BITS = 15;
const BUCKETS = 2 ** 16;

/**
 * How many values lie where, so that an exact percentile needs only the few per cent of them near it. A bucket is given by the
 * first bits of the number, whose order is that of numbers from zero on.
 */
export class DurationHistogram {
  readonly #counts = new Map<number, number>();
  /** The buckets in order; null after a new one was added. */
  #sorted: number[] | null = null;
  #total = 0;

  /** @param value zero or more @param count 1, or -1 to take a value out again */
  add(value: number, count: 1 | -1): void {
    const bucket = bucketOf(value);
    const known = this.#counts.get(bucket);
    if (known === undefined) this.#sorted = null;
    this.#counts.set(bucket, (known ?? 0) + count);
    this.#total += count;
  }

  /**
   * Where to find a quantile, by linear interpolation between order statistics (`quantile_cont`).
   *
   * @param share from 0 to 1
   * @returns null when there are no values
   */
  find(share: number): Quantile | null {
    if (this.#total === 0) return null;
    const rank = (this.#total - 1) * share;
    const [lower, upper] = [Math.floor(rank), Math.ceil(rank)];
    let before = 0;
    let first: { readonly from: number; readonly skip: number } | null = null;
    let start = 0;
    this.#sorted ??= [...this.#counts.keys()].sort((a, b) => a - b);
    for (const bucket of this.#sorted) {
      const end = before + must(this.#counts.get(bucket), 'count of a bucket');
      if (first === null && lower < end) {
        first = { from: startOf(bucket), skip: lower - before };
        start = before;
      }
      if (first !== null && upper < end) {
        const values = upper > lower ? 2 : 1;
        return { ...first, to: startOf(bucket + 1), count: end - start, values, fraction: rank - lower };
      }
      before = end;
    }
    throw new Error('the counts of a histogram do not add up');
  }
}

const DOUBLE = new Float64Array(1);
const WORDS = new Uint32Array(DOUBLE.buffer);

/** The bucket of a value; buckets are in the order of their values. */
export function bucketOf(value: number): number {
  // Adding zero turns a negative zero into zero.
  DOUBLE[0] = value + 0;
  return wordAt(WORDS, 1) >>> DROPPED_BITS;
}

/** The least number of a bucket. */
function startOf(bucket: number): number {
  if (bucket >= BUCKETS) return Infinity;
  WORDS[0] = 0;
  WORDS[1] = bucket << DROPPED_BITS;
  return doubleAt(DOUBLE, 0);
}
