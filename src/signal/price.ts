import type { CostPart } from './call-details.js';

/** The price of one token by part, in thousandths of a nano-USD: 3 USD for a million tokens is 3 000 000. Integers. */
export type Rates = Readonly<Record<CostPart, number>>;

/** The prices of a model's tokens. */
export interface Price extends Rates {
  /** The rates for calls with more input tokens than `over`. */
  readonly long: (Rates & { readonly over: number }) | null;
}

/** Factor for the decimals of a price for a million tokens. */
export const RATE_SCALE = 1_000_000;
/** Rate units in a nano-USD. */
export const RATES_PER_NANO = 1000;
