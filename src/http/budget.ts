/** Bytes of bodies that a listener holds for requests under way, within a maximum. */
export class Budget {
  readonly #max: number;
  #used = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get used(): number {
    return this.#used;
  }

  /** Whether that many bytes more would fit. */
  fits(bytes: number): boolean {
    return this.#used + bytes <= this.#max;
  }

  /** @returns false, and takes nothing, where they do not fit. */
  take(bytes: number): boolean {
    if (!this.fits(bytes)) return false;
    this.#used += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#used -= bytes;
  }
}
