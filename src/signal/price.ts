import type { CostPart } from './call-details.js';

/** What one token of each kind costs, in thousandths of a nano-USD: a price of 3 USD for a million tokens is 3 000 000. Integers. */
export type Rates = Readonly<Record<CostPart, number>>;

/** What the tokens of a model cost. */
export interface Price extends Rates {
  /** The rates for calls with more input tokens than `over`. */
  readonly long: (Rates & { readonly over: number }) | null;
}

/** A factor for the digits after the point that a price for a million tokens may have. */
export const RATE_SCALE = 1_000_000;
/** How many rates make a nano-USD. */
export const RATES_PER_NANO = 1000;
