/** Calls of the receiver to the control store. */
export type StoreWork = 'opening' | 'reading' | 'saving' | 'leasing' | 'wanting';

/** Whether calls to the control store succeed. */
export class StoreHealth {
  readonly #onChange: (failing: StoreWork | null) => void;
  readonly #failing = new Set<StoreWork>();
  #told: StoreWork | null = null;

  /** @param onChange called with the failing call, reading first, and with null when all calls succeed again */
  constructor(onChange: (failing: StoreWork | null) => void) {
    this.#onChange = onChange;
  }

  /** Calls the store. @throws any error of the work */
  async ask<T>(what: StoreWork, work: () => Promise<T>): Promise<T> {
    try {
      const answer = await work();
      this.#failing.delete(what);
      this.#tell();
      return answer;
    } catch (error) {
      this.#failing.add(what);
      this.#tell();
      throw error;
    }
  }

  #tell(): void {
    const [first = null] = this.#failing;
    const worst = this.#failing.has('reading') ? 'reading' : first;
    if (worst === this.#told) return;
    this.#told = worst;
    this.#onChange(worst);
  }
}
