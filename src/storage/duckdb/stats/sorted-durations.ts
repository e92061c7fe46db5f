import { doubleAt } from '../../../signal/checked.js';

/**
 * All values of a range, in order, so that an order statistic among them needs no look at the tables. Eight bytes a value; adding
 * one moves those after it.
 */
export class SortedDurations {
  readonly #from: number;
  readonly #to: number;
  #values: Float64Array;
  #length: number;

  /** @param values of the range from `from` (included) to `to` (excluded), in any order; this object takes the array over */
  constructor(range: { readonly from: number; readonly to: number }, values: Float64Array) {
    this.#from = range.from;
    this.#to = range.to;
    this.#values = values.sort();
    this.#length = values.length;
  }

  /** Values held. */
  get length(): number {
    return this.#length;
  }

  covers({ from, to }: { readonly from: number; readonly to: number }): boolean {
    return this.#from <= from && to <= this.#to;
  }

  /** Adds a value or takes it out; values outside the range are ignored. @param count 1, or -1 to take a value out again */
  add(value: number, count: 1 | -1): void {
    if (value < this.#from || value >= this.#to) return;
    const at = this.#firstFrom(value);
    if (count > 0) {
      if (this.#length === this.#values.length) this.#grow();
      this.#values.copyWithin(at + 1, at, this.#length);
      this.#values[at] = value;
      this.#length++;
      return;
    }
    if (at >= this.#length || this.#values[at] !== value) return;
    this.#values.copyWithin(at, at + 1, this.#length);
    this.#length--;
  }

  /** The value before which `skip` of those from `from` on come; undefined where there are fewer. */
  at(from: number, skip: number): number | undefined {
    const place = this.#firstFrom(from) + skip;
    return place < this.#length ? this.#values[place] : undefined;
  }

  /** The place of the first value that is not less. */
  #firstFrom(value: number): number {
    let [low, high] = [0, this.#length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (doubleAt(this.#values, middle) < value) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #grow(): void {
    const values = new Float64Array(this.#length + Math.max(64, this.#length >>> 2));
    values.set(this.#values);
    this.#values = values;
  }
}
