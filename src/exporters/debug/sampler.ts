import type { Micros } from '../../signal/time.js';
import { MICROS_PER_SECOND } from '../../signal/time-units.js';

/** Passes the first batches of each second, then every nth. */
export class Sampler {
  readonly #initial: number;
  readonly #thereafter: number;
  #second = -1;
  #seen = 0;

  constructor(initial: number, thereafter: number) {
    this.#initial = initial;
    this.#thereafter = thereafter;
  }

  takes(now: Micros): boolean {
    const second = Math.floor(now / MICROS_PER_SECOND);
    if (second !== this.#second) {
      this.#second = second;
      this.#seen = 0;
    }
    this.#seen += 1;
    const later = this.#seen - this.#initial;
    return later <= 0 || (this.#thereafter > 0 && later % this.#thereafter === 0);
  }
}
