/** How much is kept; sizes are in a unit of the caller's. */
export interface CacheBounds {
  readonly mostSize: number;
  readonly mostSizeOfUser: number;
  /** Values of one user. Absent: as many as fit. */
  readonly mostOfUser?: number;
}

interface Entry<Value> {
  readonly value: Value;
  readonly size: number;
}

/** What is kept of one user: the value used last at the end. */
interface Kept<Value> {
  readonly entries: Map<string, Entry<Value>>;
  size: number;
}

/**
 * Values that can be worked out again, kept as long as there is room: first those of the same user go that were used longest ago, so nobody
 * takes the room of others, then those of the user who asked longest ago.
 */
export class SharedCache<Value> {
  /** The user who asked last at the end. */
  readonly #users = new Map<number, Kept<Value>>();
  readonly #bounds: CacheBounds;
  #size = 0;

  constructor(bounds: CacheBounds) {
    this.#bounds = bounds;
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
    const kept = this.#users.get(user);
    const entry = kept?.entries.get(name);
    if (kept === undefined || entry === undefined) return undefined;
    kept.entries.delete(name);
    kept.entries.set(name, entry);
    this.#users.delete(user);
    this.#users.set(user, kept);
    return entry.value;
  }

  /** The values of a user, with their names. */
  *ofUser(user: number): Generator<readonly [name: string, value: Value]> {
    for (const [name, { value }] of this.#users.get(user)?.entries ?? []) yield [name, value];
  }

  /** Takes a value, or the new size of one. What is too large by itself is not kept. */
  put(user: number, name: string, value: Value, size: number): void {
    this.delete(user, name);
    const kept = this.#users.get(user) ?? { entries: new Map<string, Entry<Value>>(), size: 0 };
    kept.entries.set(name, { value, size });
    kept.size += size;
    this.#size += size;
    this.#users.delete(user);
    this.#users.set(user, kept);
    const { mostSize, mostSizeOfUser, mostOfUser = Infinity } = this.#bounds;
    while (kept.size > mostSizeOfUser || kept.entries.size > mostOfUser) this.#dropOldest(user);
    while (this.#size > mostSize) {
      const [longestAgo = user] = this.#users.keys();
      this.#dropOldest(longestAgo);
    }
  }

  delete(user: number, name: string): void {
    const kept = this.#users.get(user);
    const entry = kept?.entries.get(name);
    if (kept === undefined || entry === undefined) return;
    kept.entries.delete(name);
    kept.size -= entry.size;
    this.#size -= entry.size;
    if (kept.entries.size === 0) this.#users.delete(user);
  }

  clear(): void {
    this.#users.clear();
    this.#size = 0;
  }

  #dropOldest(user: number): void {
    const [name] = this.#users.get(user)?.entries.keys() ?? [];
    if (name === undefined) throw new Error('the sizes of what is kept do not add up');
    this.delete(user, name);
  }
}
