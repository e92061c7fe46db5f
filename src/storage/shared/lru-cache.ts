/** A least-recently-used cache. */
export class LruCache<Key, Figure> {
  readonly #stats = new Map<Key, Figure>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  has(key: Key): boolean {
    return this.#stats.has(key);
  }

  /** Returns an entry for an update after a write; does not count as a use. */
  peek(key: Key): Figure | undefined {
    return this.#stats.get(key);
  }

  get(key: Key): Figure | undefined {
    const figure = this.#stats.get(key);
    if (figure !== undefined) this.put(key, figure);
    return figure;
  }

  put(key: Key, figure: Figure): void {
    this.#stats.delete(key);
    this.#stats.set(key, figure);
    if (this.#stats.size > this.#most) this.dropOldest();
  }

  delete(key: Key): void {
    this.#stats.delete(key);
  }

  values(): Iterable<Figure> {
    return this.#stats.values();
  }

  /** Removes the least recently used entry. */
  dropOldest(): Figure | undefined {
    for (const [key, figure] of this.#stats) {
      this.#stats.delete(key);
      return figure;
    }
    return undefined;
  }

  clear(): void {
    this.#stats.clear();
  }
}
