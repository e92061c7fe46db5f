/** An exact sum of whole numbers; uses a `bigint` only if a number would not be exact. */
export class ExactSum {
  #rest = 0;
  #large = 0n;

  /** @param value a whole number */
  add(value: number): void {
    const sum = this.#rest + value;
    if (Number.isSafeInteger(sum)) {
      this.#rest = sum;
      return;
    }
    this.#large += BigInt(this.#rest) + BigInt(value);
    this.#rest = 0;
  }

  get value(): number | bigint {
    return this.#large === 0n ? this.#rest : this.#large + BigInt(this.#rest);
  }
}
