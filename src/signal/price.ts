import type { ServiceTier, SummedPart } from './call-details.js';

/**
 * The price of one token by part, in thousandths of a nano-USD: 3 USD for a million tokens is 3 000 000. Integers. Cache writes with
 * a lifetime cost `cached_write` if they have no price of their own.
 */
export type Rates = Readonly<Record<SummedPart, number>> & {
  readonly cached_write_5m?: number;
  readonly cached_write_1h?: number;
};

/** The prices of a model's tokens. */
export type Price = Rates & {
  /** The rates for calls with more input tokens than `over`. */
  readonly long: (Rates & { readonly over: number }) | null;
  /** Factors for all rates of calls in a service tier. Absent: the tiers have no price. */
  readonly tiers?: Readonly<Partial<Record<ServiceTier, number>>>;
};

/** Factor for the decimals of a price for a million tokens. */
export const RATE_SCALE = 1_000_000;
/** Rate units in a nano-USD. */
export const RATES_PER_NANO = 1000;
