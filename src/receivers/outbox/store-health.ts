/** Calls of the receiver to the control store. */
export type StoreWork = 'opening' | 'reading' | 'saving' | 'leasing' | 'wanting';

/** Whether calls to the control store succeed. */
export class StoreHealth {
  readonly #onChange: (failing: StoreWork | null) => void;
  readonly #failing = new Set<StoreWork>();
  #reported: StoreWork | null = null;

  /** @param onChange called with the failing call, reading first, and with null when all calls succeed again */
  constructor(onChange: (failing: StoreWork | null) => void) {
    this.#onChange = onChange;
  }

  /** Calls the store. @throws any error of the work */
  async ask<T>(what: StoreWork, work: () => Promise<T>): Promise<T> {
    try {
      const answer = await work();
      this.#failing.delete(what);
      this.#report();
      return answer;
    } catch (error) {
      this.#failing.add(what);
      this.#report();
      throw error;
    }
  }

  #report(): void {
    const [first = null] = this.#failing;
    const worst = this.#failing.has('reading') ? 'reading' : first;
    if (worst === this.#reported) return;
    this.#reported = worst;
    this.#onChange(worst);
  }
}
