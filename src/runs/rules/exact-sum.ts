const HALF = 2 ** 32;

/**
 * A sum of up to some millions of integers from 0 to 2^63, independent of the order of additions and removals: it is rounded once, when
 * read.
 */
export class ExactSum {
  #high = 0;
  #low = 0;

  add(value: number): void {
    const high = Math.floor(value / HALF);
    this.#high += high;
    this.#low += value - high * HALF;
  }

  /** @param value a value added before */
  remove(value: number): void {
    const high = Math.floor(value / HALF);
    this.#high -= high;
    this.#low -= value - high * HALF;
  }

  get value(): number {
    return this.#high * HALF + this.#low;
  }
}
