import { MOST_NANO_USD, type NanoUsd } from '../../signal/money.js';

/** What one token costs, in thousandths of a nano-USD: a price of 3 USD for a million tokens is 3 000 000. Integers. */
export interface Rates {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

export interface Price extends Rates {
  /** The rates for calls with more input tokens than `over`. */
  readonly long: (Rates & { readonly over: number }) | null;
}

/** The tokens of one call. Whole numbers. */
export interface Tokens {
  /** Including those read from and written to a cache. */
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

/** A factor for the digits after the point that a price for a million tokens may have. */
export const RATE_SCALE = 1_000_000;
/** How many rates make a nano-USD. */
const RATES_PER_NANO = 1000;

/**
 * The cost of a call: input tokens outside any cache, those read from a cache, those written to it, and the output, each at its
 * price. Exact, and rounded once at the end, half to even.
 *
 * @returns undefined where it is more than is accepted as an amount of money
 */
export function costOf(price: Price, tokens: Tokens): NanoUsd | undefined {
  const { cacheRead, cacheWrite, output } = tokens;
  // Some report only the input outside the caches; then nothing is left of it here.
  const plain = Math.max(0, tokens.input - cacheRead - cacheWrite);
  const whole = Math.max(tokens.input, cacheRead + cacheWrite);
  const rates = price.long !== null && whole > price.long.over ? price.long : price;
  const sum =
    plain * rates.input + cacheRead * rates.cacheRead + cacheWrite * rates.cacheWrite + output * rates.output;
  // If a double holds the sum exactly, it also holds its parts exactly.
  if (sum <= Number.MAX_SAFE_INTEGER) return bounded(roundHalfEven(sum));
  return roundLarge(
    BigInt(plain) * BigInt(rates.input) +
      BigInt(cacheRead) * BigInt(rates.cacheRead) +
      BigInt(cacheWrite) * BigInt(rates.cacheWrite) +
      BigInt(output) * BigInt(rates.output),
  );
}

function roundHalfEven(sum: number): NanoUsd {
  const rest = sum % RATES_PER_NANO;
  const kept = (sum - rest) / RATES_PER_NANO;
  const isUp = rest > RATES_PER_NANO / 2 || (rest === RATES_PER_NANO / 2 && kept % 2 === 1);
  return isUp ? kept + 1 : kept;
}

function roundLarge(sum: bigint): NanoUsd | undefined {
  const scale = BigInt(RATES_PER_NANO);
  const rest = sum % scale;
  const kept = sum / scale;
  const isUp = rest > scale / 2n || (rest === scale / 2n && kept % 2n === 1n);
  return bounded(Number(isUp ? kept + 1n : kept));
}

function bounded(cost: NanoUsd): NanoUsd | undefined {
  return cost > MOST_NANO_USD ? undefined : cost;
}
