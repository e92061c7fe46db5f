import { LRUCache } from 'lru-cache';

/** Recent changes by id, each with the number of its last change. At the limit the oldest are dropped. */
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

  /** The number of the last dropped change; 0 if none was dropped. */
  get forgotten(): number {
    return this.#forgotten;
  }

  /** @returns the number of the change that was dropped to make room, if any */
  add(id: string): number | undefined {
    this.#last += 1;
    const before = this.#forgotten;
    this.#changes.set(id, this.#last);
    return this.#forgotten === before ? undefined : this.#forgotten;
  }

  /** Whether all changes after this number are still available. */
  remembers(number: number): boolean {
    return number >= this.#forgotten && number <= this.#last;
  }

  /** The changes after a number, in order. */
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
