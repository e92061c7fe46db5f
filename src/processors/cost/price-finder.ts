import type { PricedModels } from './price-table.js';

/**
 * Finds the entry of a table for a model. A table is searched from the top, so results are remembered, including unknown models; beyond
 * `maxRemembered` the one remembered longest is forgotten, because senders choose names.
 */
export class PriceFinder {
  readonly #models: readonly PricedModels[];
  readonly #maxRemembered: number;
  readonly #remembered = new Map<string, PricedModels | null>();

  constructor(models: readonly PricedModels[], maxRemembered: number) {
    this.#models = models;
    this.#maxRemembered = maxRemembered;
  }

  /**
   * @param provider empty where nobody named one
   * @returns null for a model that is not in the table
   */
  find(model: string, provider: string): PricedModels | null {
    // A real name contains no line end; if one does, a wrong guess harms nothing but itself.
    const key = `${provider}\n${model}`;
    const known = this.#remembered.get(key);
    if (known !== undefined) return known;
    const found = this.#models.find(
      (candidate) =>
        (candidate.provider === null || (provider !== '' && candidate.provider(provider))) &&
        candidate.match.some((fits) => fits(model)),
    );
    const entry = found ?? null;
    if (this.#remembered.size >= this.#maxRemembered) {
      const [oldest] = this.#remembered.keys();
      if (oldest !== undefined) this.#remembered.delete(oldest);
    }
    this.#remembered.set(key, entry);
    return entry;
  }
}
