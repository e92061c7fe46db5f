/** Bytes of bodies that a listener holds for requests under way, within a maximum. */
export class Budget {
  #max: number;
  #used = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get used(): number {
    return this.#used;
  }

  /** Raises the maximum where it is lower. */
  atLeast(bytes: number): void {
    this.#max = Math.max(this.#max, bytes);
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
