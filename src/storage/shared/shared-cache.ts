import { LRUCache } from 'lru-cache';

/** How much is kept; sizes are in a unit of the caller's. */
export interface CacheBounds {
  readonly mostSize: number;
  readonly mostSizeOfUser: number;
  /** Values of one user. Absent: as many as fit. */
  readonly mostOfUser?: number;
}

/** A value, which may be null or a text, as the library takes objects. */
interface Holder<Value> {
  readonly value: Value;
}

/**
 * Values that can be worked out again, kept as long as there is room: first those of the same user go that were used longest ago, so nobody
 * takes the room of others, then those of the user who asked longest ago.
 */
export class SharedCache<Value> {
  /** By user: what is kept of them. */
  readonly #users: LRUCache<number, LRUCache<string, Holder<Value>>>;
  readonly #bounds: CacheBounds;
  #size = 0;

  constructor(bounds: CacheBounds) {
    this.#bounds = bounds;
    // Every value has a size, so there are never more users than that.
    this.#users = new LRUCache({ maxSize: bounds.mostSize, sizeCalculation: () => 1 });
  }

  /** The sizes of all values together. */
  get size(): number {
    return this.#size;
  }

  /** Whether nothing is kept. */
  get isEmpty(): boolean {
    return this.#users.size === 0;
  }

  /** A value, which now counts as the one used last. */
  get(user: number, name: string): Value | undefined {
    const held = this.#users.peek(user)?.get(name);
    if (held !== undefined) this.#users.get(user);
    return held?.value;
  }

  /** Those of whom something is kept, the one who asked last first. */
  users(): Iterable<number> {
    return this.#users.keys();
  }

  /** The values of a user, with their names; the one used last first. */
  *ofUser(user: number): Generator<readonly [name: string, value: Value]> {
    for (const [name, { value }] of this.#users.peek(user)?.entries() ?? []) yield [name, value];
  }

  /**
   * Takes a value, or the new size of one. What is too large by itself is not kept.
   *
   * @param size at least 1
   */
  put(user: number, name: string, value: Value, size: number): void {
    const { mostSizeOfUser, mostOfUser = 0 } = this.#bounds;
    const kept =
      this.#users.get(user) ??
      new LRUCache<string, Holder<Value>>({ maxSize: mostSizeOfUser, max: mostOfUser });
    this.#changed(user, kept, () => {
      kept.delete(name);
      kept.set(name, { value }, { size });
    });
    while (this.#size > this.#bounds.mostSize) this.#dropOldest();
  }

  delete(user: number, name: string): void {
    const kept = this.#users.peek(user);
    if (kept !== undefined) this.#changed(user, kept, () => kept.delete(name));
  }

  clear(): void {
    this.#users.clear();
    this.#size = 0;
  }

  /** Of the user who asked longest ago. */
  #dropOldest(): void {
    const { value: user } = this.#users.rkeys().next();
    const kept = user === undefined ? undefined : this.#users.peek(user);
    if (user === undefined || kept === undefined) throw new Error('the sizes of what is kept do not add up');
    this.#changed(user, kept, () => kept.pop());
  }

  /** Counts what a change makes of a user's part, and keeps or forgets the user. */
  #changed(user: number, kept: LRUCache<string, Holder<Value>>, change: () => void): void {
    const before = kept.calculatedSize;
    change();
    this.#size += kept.calculatedSize - before;
    if (kept.size === 0) this.#users.delete(user);
    else if (!this.#users.has(user)) this.#users.set(user, kept);
  }
}
