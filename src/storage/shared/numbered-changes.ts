import { LRUCache } from 'lru-cache';

/** What changed lately, by id, each with the number of its last change. Of too many the longest ago are forgotten. */
export class NumberedChanges {
  readonly #changes: LRUCache<string, number>;
  #last = 0;
  #forgotten = 0;

  constructor(most: number) {
    this.#changes = new LRUCache({
      max: most,
      dispose: (number, _, reason) => {
        if (reason === 'evict') this.#forgotten = number;
      },
    });
  }

  /** The number of the newest change. */
  get last(): number {
    return this.#last;
  }

  /** The number of the last change that was forgotten; 0: none was. */
  get forgotten(): number {
    return this.#forgotten;
  }

  /** @returns the number of a change that was forgotten for this one, if one was */
  add(id: string): number | undefined {
    this.#last += 1;
    const before = this.#forgotten;
    this.#changes.set(id, this.#last);
    return this.#forgotten === before ? undefined : this.#forgotten;
  }

  /** Whether all that changed after this one is still known. */
  remembers(number: number): boolean {
    return number >= this.#forgotten && number <= this.#last;
  }

  /** What changed after a number, in order. */
  since(number: number): readonly { readonly id: string; readonly number: number }[] {
    const changes: { readonly id: string; readonly number: number }[] = [];
    // The newest come first.
    for (const [id, changed] of this.#changes.entries()) {
      if (changed <= number) break;
      changes.push({ id, number: changed });
    }
    return changes.reverse();
  }
}
