import { doubleAt } from '../../../signal/checked.js';
import { bucketOf, DurationHistogram } from '../stats/duration-histogram.js';

/**
 * Durations with their mean and exact percentiles. They are kept in buckets, so that only one or two of these are looked through;
 * about 12 bytes each.
 */
export class KeptDurations {
  readonly #places = new DurationHistogram();
  readonly #buckets = new Map<number, number[]>();
  #count = 0;
  /** The sum, and what its rounding left out, so that values that come and go leave no error behind. */
  #sum = 0;
  #rest = 0;

  /** @param value zero or more */
  add(value: number): void {
    this.#places.add(value, 1);
    const bucket = bucketOf(value);
    const known = this.#buckets.get(bucket);
    if (known === undefined) this.#buckets.set(bucket, [value]);
    else known.push(value);
    this.#count++;
    this.#addUp(value);
  }

  /** Takes a value out again. A value that is not there, because its run has just been removed, is ignored. */
  remove(value: number): void {
    const values = this.#buckets.get(bucketOf(value));
    const at = values?.indexOf(value) ?? -1;
    if (values === undefined || at < 0) return;
    const last = values.pop();
    if (last !== undefined && at < values.length) values[at] = last;
    this.#places.add(value, -1);
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
    const place = this.#places.find(share);
    if (place === null) return null;
    const [first, end] = [bucketOf(place.from), bucketOf(place.to)];
    const near = [...this.#buckets].filter(([bucket]) => bucket >= first && bucket < end);
    const sorted = Float64Array.from(near.flatMap(([, values]) => values)).sort();
    const lower = doubleAt(sorted, place.skip);
    const upper = doubleAt(sorted, place.skip + place.values - 1);
    return lower + (upper - lower) * place.fraction;
  }

  /** Adds without loss: Knuth's two-sum. */
  #addUp(value: number): void {
    const sum = this.#sum + value;
    const part = sum - this.#sum;
    this.#rest += this.#sum - (sum - part) + (value - part);
    this.#sum = sum;
  }
}
