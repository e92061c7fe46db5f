import type { Price } from '../signal/price.js';

/** An entry of a price table that may fit calls of a model. */
export interface PriceRule {
  /** Names the entry for people: `prices.yaml:245 gpt-4o-mini, gpt-4o-mini-20* (2026-11-21)`. */
  readonly rule: string;
  /** The pattern of the providers that the entry applies to; null: it applies to all calls that no earlier entry matches. */
  readonly provider: string | null;
  readonly price: Price;
}

/** The prices that a component applies to model calls. */
export interface PriceSource {
  /** Id of the processor, as configured. */
  readonly processor: string;
  /** Names of models, one for each entry that has a name: valid arguments of {@link rulesOf}. */
  readonly models: readonly string[];
  /**
   * The entries that match calls of a model, in order of precedence: those of certain providers, then at most one for all others.
   * Empty if the table does not contain the model.
   */
  rulesOf(model: string): readonly PriceRule[];
}

/** A source with the pipelines that use it. */
export interface PlacedPrices extends PriceSource {
  /** The names of its pipelines, in the order of the configuration. */
  readonly pipelines: readonly string[];
}

/** Prices that the daemon applies to model calls. */
export interface Prices {
  /** For processors that price, at their start: registers their source for as long as they run. */
  offer(source: PriceSource): void;
  /**
   * The sources whose pipelines lead to a store, in the order of the pipelines in the configuration. If no such pipeline prices, those
   * of all pipelines.
   *
   * @param store id of the extension
   */
  leadingTo(store: string): readonly PlacedPrices[];
}
