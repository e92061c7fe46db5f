/** Figures that are read from the tables when somebody asks for them, and then kept: those used last. */
export class LoadedFigures<Key, Figure> {
  readonly #figures = new Map<Key, Figure>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  has(key: Key): boolean {
    return this.#figures.has(key);
  }

  /** Gets a figure to change it with what is stored, which does not count as a use. */
  peek(key: Key): Figure | undefined {
    return this.#figures.get(key);
  }

  get(key: Key): Figure | undefined {
    const figure = this.#figures.get(key);
    if (figure !== undefined) this.put(key, figure);
    return figure;
  }

  put(key: Key, figure: Figure): void {
    this.#figures.delete(key);
    this.#figures.set(key, figure);
    if (this.#figures.size > this.#most) this.dropOldest();
  }

  delete(key: Key): void {
    this.#figures.delete(key);
  }

  values(): Iterable<Figure> {
    return this.#figures.values();
  }

  /** Forgets the one that was used longest ago. */
  dropOldest(): Figure | undefined {
    for (const [key, figure] of this.#figures) {
      this.#figures.delete(key);
      return figure;
    }
    return undefined;
  }

  clear(): void {
    this.#figures.clear();
  }
}
