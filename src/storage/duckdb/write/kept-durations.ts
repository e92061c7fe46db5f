import { doubleAt } from '../../../signal/checked.js';

/** A bucket spans 1/32 of a natural logarithm, 3%. */
const PER_LOGARITHM = 32;

/**
 * Durations with their mean and exact percentiles. Stored in buckets, so that a percentile reads only one or two of them; about 12
 * bytes each.
 */
export class KeptDurations {
  readonly #buckets = new Map<number, number[]>();
  #count = 0;
  /** The sum and its rounding error, so that adding and removing values leaves no error. */
  #sum = 0;
  #rest = 0;

  /** @param value zero or more */
  add(value: number): void {
    const bucket = bucketOf(value);
    const known = this.#buckets.get(bucket);
    if (known === undefined) this.#buckets.set(bucket, [value]);
    else known.push(value);
    this.#count++;
    this.#addUp(value);
  }

  /** Removes a value. A missing value is ignored, because its run may just have been removed. */
  remove(value: number): void {
    const values = this.#buckets.get(bucketOf(value));
    const at = values?.indexOf(value) ?? -1;
    if (values === undefined || at < 0) return;
    const last = values.pop();
    if (last !== undefined && at < values.length) values[at] = last;
    this.#count--;
    this.#addUp(-value);
  }

  get count(): number {
    return this.#count;
  }

  /** Null when there are none. */
  mean(): number | null {
    return this.#count === 0 ? null : (this.#sum + this.#rest) / this.#count;
  }

  /** By linear interpolation between order statistics. @param share from 0 to 1. @returns null when there are none */
  quantile(share: number): number | null {
    if (this.#count === 0) return null;
    const rank = (this.#count - 1) * share;
    const lower = this.#at(Math.floor(rank));
    return lower + (this.#at(Math.ceil(rank)) - lower) * (rank - Math.floor(rank));
  }

  /** The value at index `skip` in ascending order. */
  #at(skip: number): number {
    let left = skip;
    for (const bucket of [...this.#buckets.keys()].sort((a, b) => a - b)) {
      const values = this.#buckets.get(bucket) ?? [];
      if (left < values.length) return doubleAt(Float64Array.from(values).sort(), left);
      left -= values.length;
    }
    throw new RangeError('there are fewer durations');
  }

  /** Adds without loss: Knuth's two-sum. */
  #addUp(value: number): void {
    const sum = this.#sum + value;
    const part = sum - this.#sum;
    this.#rest += this.#sum - (sum - part) + (value - part);
    this.#sum = sum;
  }
}

/** Buckets are in the order of their values. */
function bucketOf(value: number): number {
  return Math.floor(Math.log(value) * PER_LOGARITHM);
}
