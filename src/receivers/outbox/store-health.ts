/** What the receiver asks the control store for. */
export type StoreWork = 'opening' | 'reading' | 'saving' | 'leasing' | 'wanting';

/** Whether the control store does what it is asked for. */
export class StoreHealth {
  readonly #onChange: (failing: StoreWork | null) => void;
  readonly #failing = new Set<StoreWork>();
  #told: StoreWork | null = null;

  /** @param onChange is told what fails, reading before all else, and null when nothing fails any more */
  constructor(onChange: (failing: StoreWork | null) => void) {
    this.#onChange = onChange;
  }

  /** Asks the store. @throws what the work throws */
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
