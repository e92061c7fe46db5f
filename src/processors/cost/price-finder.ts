import { LRUCache } from 'lru-cache';
import type { PricedModels } from './price-table.js';

/**
 * Finds the table entry of a model. Tables are searched from the top, so results are cached, including unknown models; beyond
 * `maxRemembered`, the least recently used result is evicted, because senders choose names.
 */
export class PriceFinder {
  readonly #models: readonly PricedModels[];
  readonly #remembered: LRUCache<string, { readonly entry: PricedModels | null }>;

  constructor(models: readonly PricedModels[], maxRemembered: number) {
    this.#models = models;
    this.#remembered = new LRUCache({ max: maxRemembered });
  }

  /**
   * @param provider empty if unknown
   * @returns null for a model that is not in the table
   */
  find(model: string, provider: string): PricedModels | null {
    // Real names contain no line breaks; with one, only the price of this span may be wrong.
    const key = `${provider}\n${model}`;
    const known = this.#remembered.get(key);
    if (known !== undefined) return known.entry;
    const found = this.#models.find(
      (candidate) =>
        (candidate.provider === null || (provider !== '' && candidate.provider(provider))) &&
        candidate.match.some((fits) => fits(model)),
    );
    const entry = found ?? null;
    this.#remembered.set(key, { entry });
    return entry;
  }
}
