import type { Price } from '../signal/price.js';

/** An entry of a price table that may fit calls of a model. */
export interface PriceRule {
  /** Names the entry for people: `prices.yaml:245 gpt-4o-mini, gpt-4o-mini-20* (2026-11-21)`. */
  readonly rule: string;
  /** The pattern of the providers that it is for; null: it is for all calls that no entry before it fits. */
  readonly provider: string | null;
  readonly price: Price;
}

/** What a component prices model calls by. */
export interface PriceSource {
  /** Id of the processor, as configured. */
  readonly processor: string;
  /** Names of models, one for each entry that can be had by a name: what one may ask {@link rulesOf} for. */
  readonly models: readonly string[];
  /**
   * The entries that fit calls of a model, in the order in which they are tried: those of certain providers, then at most one for all
   * others. None: the table does not know the model.
   */
  rulesOf(model: string): readonly PriceRule[];
}

/** A source with the places where it prices. */
export interface PlacedPrices extends PriceSource {
  /** The names of its pipelines, in the order of the configuration. */
  readonly pipelines: readonly string[];
}

/** By what the daemon prices model calls. */
export interface Prices {
  /** For processors that price, at their start: what they go by, as long as they run. */
  offer(source: PriceSource): void;
  /**
   * The sources whose pipelines lead to a store, in the order in which the configuration lists the pipelines. Where no such pipeline
   * prices, those of all pipelines.
   *
   * @param store id of the extension
   */
  leadingTo(store: string): readonly PlacedPrices[];
}
