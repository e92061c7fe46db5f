/** What the receiver asks the control store for. */
export type StoreWork = 'reading' | 'saving' | 'leasing' | 'wanting';

/** Whether the control store does what it is asked for. */
export class StoreHealth {
  readonly #onChange: (failing: StoreWork | null) => void;
  readonly #failing = new Set<StoreWork>();

  /** @param onChange is told what begins to fail, and null when nothing fails any more */
  constructor(onChange: (failing: StoreWork | null) => void) {
    this.#onChange = onChange;
  }

  /** Asks the store. @throws what the work throws */
  async ask<T>(what: StoreWork, work: () => Promise<T>): Promise<T> {
    try {
      const answer = await work();
      if (this.#failing.delete(what) && this.#failing.size === 0) this.#onChange(null);
      return answer;
    } catch (error) {
      if (this.#failing.size === 0) this.#onChange(what);
      this.#failing.add(what);
      throw error;
    }
  }
}
