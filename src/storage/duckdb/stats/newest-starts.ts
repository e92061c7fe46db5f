import { doubleAt } from '../../../signal/checked.js';
import type { Micros } from '../../../signal/time.js';

/** How many starts are kept per list, for its first pages. */
export const MOST_STARTS = 512;

/** The places of the floor and the size. */
const HEAD = 2;

/** The newest starts of some runs, so that the first pages of a list need not scan all runs. */
export class NewestStarts {
  /** The number of places for this many starts. */
  static placesFor(starts: number): number {
    return HEAD + starts;
  }

  /** An empty list with room for {@link MOST_STARTS} starts. */
  static make(): NewestStarts {
    const made = new NewestStarts(new Float64Array(NewestStarts.placesFor(MOST_STARTS)));
    made.clear(-Infinity);
    return made;
  }

  /** The latest start that was left out (all later ones are here), the number of starts, and at the end the starts, ascending. */
  readonly #places: Float64Array;

  /** @param places not shared with other code, and initialized by {@link clear} */
  constructor(places: Float64Array) {
    this.#places = places;
  }

  add(start: Micros): void {
    if (start <= this.#floor) return;
    const last = this.#places.length;
    const least = doubleAt(this.#places, HEAD);
    const isFull = this.#size === last - HEAD;
    if (isFull && start <= least) {
      this.#places[0] = start;
      return;
    }
    const at = this.#place(start);
    if (isFull) this.#places[0] = least;
    else this.#places[1] = this.#size + 1;
    // Moves earlier starts one place down to make room, overwriting the earliest if full.
    const first = last - this.#size;
    this.#places.copyWithin(first, first + 1, at);
    this.#places[at - 1] = start;
  }

  remove(start: Micros): void {
    const at = this.#place(start) - 1;
    const least = this.#places.length - this.#size;
    if (at < least || this.#places[at] !== start) return;
    this.#places.copyWithin(least + 1, least, at);
    this.#places[1] = this.#size - 1;
  }

  /** The `n`th newest start, counted from 1; null if unknown. */
  get(n: number): Micros | null {
    return n > this.#size ? null : doubleAt(this.#places, this.#places.length - n);
  }

  /** Removes all starts. Afterwards it holds starts added later than `floor`. */
  clear(floor: Micros): void {
    this.#places[0] = floor;
    this.#places[1] = 0;
  }

  /** Notes that starts up to this one may have been left out. */
  floorAt(start: Micros): void {
    this.#places[0] = Math.max(this.#floor, start);
  }

  get #floor(): number {
    return doubleAt(this.#places, 0);
  }

  get #size(): number {
    return doubleAt(this.#places, 1);
  }

  /** The position after the last start that is not later. */
  #place(start: Micros): number {
    let low = this.#places.length - this.#size;
    let high = this.#places.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (doubleAt(this.#places, middle) <= start) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
