/** Stats that are read from the tables when somebody asks for them, and then kept: those used last. */
export class LruCache<Key, Figure> {
  readonly #stats = new Map<Key, Figure>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  has(key: Key): boolean {
    return this.#stats.has(key);
  }

  /** Gets a figure to change it with what is stored, which does not count as a use. */
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

  /** Forgets the one that was used longest ago. */
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
