import { LRUCache } from 'lru-cache';

/** Cache limits; sizes are in a unit chosen by the caller. */
export interface CacheBounds {
  readonly mostSize: number;
  readonly mostSizeOfUser: number;
  /** Maximum number of values per user. Absent: as many as fit. */
  readonly mostOfUser?: number;
}

/** Wraps a value that may be null or a string, because the library accepts only objects. */
interface Holder<Value> {
  readonly value: Value;
}

/**
 * Cache of values that can be recomputed. When full, it drops values of the least recently active user; a user at its own limit loses
 * its least recently used value, so no user displaces the others.
 */
export class SharedCache<Value> {
  /** Cached values by user. */
  readonly #users: LRUCache<number, LRUCache<string, Holder<Value>>>;
  readonly #bounds: CacheBounds;
  #size = 0;

  constructor(bounds: CacheBounds) {
    this.#bounds = bounds;
    // Every value has a size of at least 1, so the number of users is bounded by `mostSize`.
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

  /** Returns a value and marks it as used. */
  get(user: number, name: string): Value | undefined {
    const held = this.#users.peek(user)?.get(name);
    if (held !== undefined) this.#users.get(user);
    return held?.value;
  }

  /** Users with cached values, most recently active first. */
  users(): Iterable<number> {
    return this.#users.keys();
  }

  /** The values of a user with their names, most recently used first. */
  *ofUser(user: number): Generator<readonly [name: string, value: Value]> {
    for (const [name, { value }] of this.#users.peek(user)?.entries() ?? []) yield [name, value];
  }

  /**
   * Adds a value, or changes its size. A value larger than the cache is not kept.
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

  /** Drops a value of the least recently active user. */
  #dropOldest(): void {
    const { value: user } = this.#users.rkeys().next();
    const kept = user === undefined ? undefined : this.#users.peek(user);
    if (user === undefined || kept === undefined) throw new Error('the sizes of cached values do not add up');
    this.#changed(user, kept, () => kept.pop());
  }

  /** Applies a change to a user's values, updates the total size, and drops a user without values. */
  #changed(user: number, kept: LRUCache<string, Holder<Value>>, change: () => void): void {
    const before = kept.calculatedSize;
    change();
    this.#size += kept.calculatedSize - before;
    if (kept.size === 0) this.#users.delete(user);
    else if (!this.#users.has(user)) this.#users.set(user, kept);
  }
}
