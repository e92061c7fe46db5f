import { COUNTS } from '../../runs/rules/duplicate-calls.js';
import { SUMMED_PARTS, type SummedPart } from '../../signal/call-details.js';
import { MOST_NANO_USD } from '../../signal/money.js';
import { RATES_PER_NANO, type Price, type Rates } from '../../signal/price.js';

/**
 * SQL for all engines that maps the tokens of a call to price parts (`signal/call-tokens.ts`), and the conditions for pricing sums of
 * calls.
 */

/** The parts of a call's usage, as `serializeCall` stores them, and the column names that queries give them. */
export const USAGE_COLUMNS = {
  cached_read: 'read',
  cached_write: 'written',
  audio_input: 'heard',
  audio_output: 'said',
} as const;

/**
 * SQL for the number of a call's tokens priced as each part; each token is in one part. Cached audio tokens cost as much as cached text
 * tokens.
 *
 * @param output the column of all output tokens of the call; `fresh` are the input tokens neither read from nor written to a cache
 */
export function pricedTokens(output: string): Readonly<Record<SummedPart, string>> {
  return {
    input: 'fresh - least(heard, fresh)',
    cached_read: 'read',
    cached_write: 'written',
    audio_input: 'least(heard, fresh)',
    output: `${output} - least(said, ${output})`,
    audio_output: `least(said, ${output})`,
  };
}

/** Bits of a call: what counts of it ({@link COUNTS}; its cost only if it has one), and why it cannot be repriced. */
export const CALL_FLAGS = {
  call: COUNTS.call,
  priced: COUNTS.cost,
  running: 4,
  no_tokens: 8,
  no_parts: 16,
} as const;
/** From this bit on: how many of {@link LONG_INPUTS} its input exceeds. */
export const LONG_SHIFT = 5;
/** Token counts from which a price's long-input rates may apply. Never change these: stored sums separate calls by them. */
export const LONG_INPUTS: readonly number[] = [
  100_000, 128_000, 200_000, 256_000, 272_000, 512_000, 1_000_000,
];

/**
 * Whether a price needs no rounding per call, and sums of calls by {@link CALL_FLAGS} separate long calls: then sums give the same result.
 */
export function isOfSums(price: Price): boolean {
  const { long } = price;
  return (
    ratesOf(price).every((rate) => rate % RATES_PER_NANO === 0) &&
    (long === null || LONG_INPUTS.includes(long.over))
  );
}

/** Whether a call with this many tokens may cost more than the maximum amount. */
export function mayBeTooLarge(tokens: number, price: Price): boolean {
  return tokens * Math.max(...ratesOf(price)) >= MOST_NANO_USD * RATES_PER_NANO;
}

/** Cache writes by lifetime, which sums of calls lack, with their columns in queries. */
export const LIFETIME_COLUMNS = { cached_write_5m: 'minutes', cached_write_1h: 'hours' } as const;

/** Whether a price of writes depends on their lifetime. Then only calls without writes may be priced from sums. */
export function isByLifetime({ long, ...price }: Price): boolean {
  return [price, ...(long === null ? [] : [long])].some((rates) =>
    LIFETIMES.some((part) => (rates[part] ?? rates.cached_write) !== rates.cached_write),
  );
}

/** The SQL of what writes of a known lifetime cost in addition to `cached_write`. @param factor formats a rate */
export function lifetimeAmount(rates: Rates, factor: (rate: number) => string): string {
  const { cached_write: usual, cached_write_5m = usual, cached_write_1h = usual } = rates;
  return `least(hours, written) * ${factor(cached_write_1h - usual)} + least(minutes, written - least(hours, written)) * ${factor(cached_write_5m - usual)}`;
}

const LIFETIMES = ['cached_write_5m', 'cached_write_1h'] as const;

function ratesOf(price: Price): number[] {
  const { long } = price;
  return [price, ...(long === null ? [] : [long])].flatMap((rates) =>
    SUMMED_PARTS.map((part) => rates[part]),
  );
}
