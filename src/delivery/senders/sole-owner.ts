/** Work on a store that only one exporter may do: two would each keep their own limits, and do everything twice. */
export class SoleOwner {
  readonly #owners = new WeakMap<object, string>();
  readonly #work: (storeId: string) => string;

  /** @param work description of the work for the error: `The deliveries in "duckdb" are sent` */
  constructor(work: (storeId: string) => string) {
    this.#work = work;
  }

  /**
   * Makes an exporter the only one that works on a store.
   *
   * @param storeId for the error
   * @returns a function that ends it
   * @throws Error that names the exporter which does it already
   */
  own(store: object, storeId: string, exporter: string): () => void {
    const owner = this.#owners.get(store);
    if (owner !== undefined)
      throw new Error(
        `${this.#work(storeId)} by exporter "${owner}" already: use that exporter in all pipelines, or name another store`,
      );
    this.#owners.set(store, exporter);
    return () => {
      this.#owners.delete(store);
    };
  }
}
