const HALF = 2 ** 32;

/**
 * A sum of whole numbers from 0 to 2^63, at most some millions of them, that does not depend on the order in which they come and
 * go: it is rounded once, when it is asked for.
 */
export class ExactSum {
  #high = 0;
  #low = 0;

  add(value: number): void {
    const high = Math.floor(value / HALF);
    this.#high += high;
    this.#low += value - high * HALF;
  }

  /** @param value that was added before */
  remove(value: number): void {
    const high = Math.floor(value / HALF);
    this.#high -= high;
    this.#low -= value - high * HALF;
  }

  get value(): number {
    return this.#high * HALF + this.#low;
  }
}
