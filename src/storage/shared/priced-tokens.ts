import { COUNTS } from '../../runs/rules/duplicate-calls.js';
import { COST_PARTS, type CostPart } from '../../signal/call-details.js';
import { MOST_NANO_USD } from '../../signal/money.js';
import { RATES_PER_NANO, type Price } from '../../signal/price.js';

/** Which tokens of a call are priced as what (`signal/call-tokens.ts`), in SQL that every engine reads, and when sums of calls tell their price. */

/** Parts of the usage that a call may tell, as `serializeCall` keeps them, and the columns that queries make of them. */
export const USAGE_COLUMNS = {
  cached_read: 'read',
  cached_write: 'written',
  audio_input: 'heard',
  audio_output: 'said',
} as const;

/**
 * How many tokens of a call are priced as which part; each is in one. What a cache gave of audio costs what it gives of text.
 *
 * @param output the column of all tokens that the call put out; `fresh` are those put in that no cache gave or took
 */
export function pricedTokens(output: string): Readonly<Record<CostPart, string>> {
  return {
    input: 'fresh - least(heard, fresh)',
    cached_read: 'read',
    cached_write: 'written',
    audio_input: 'least(heard, fresh)',
    output: `${output} - least(said, ${output})`,
    audio_output: `least(said, ${output})`,
  };
}

/** Bits that say of a call what counts of it ({@link COUNTS}; its cost only where it has one), and why it cannot be priced. */
export const TOLD = {
  call: COUNTS.call,
  priced: COUNTS.cost,
  running: 4,
  no_tokens: 8,
  no_parts: 16,
} as const;
/** The bits above say how many of {@link LONG_INPUTS} its input is longer than. */
export const LONG_SHIFT = 5;
/** Where the rates for long inputs of a price may begin, in tokens. Never to be changed: sums that are stored tell calls apart by it. */
export const LONG_INPUTS: readonly number[] = [
  100_000, 128_000, 200_000, 256_000, 272_000, 512_000, 1_000_000,
];

/** Whether no call has to be rounded, and sums of calls by {@link TOLD} tell which ones are long: then they give the same as each of them. */
export function isOfSums(price: Price): boolean {
  const { long } = price;
  return (
    ratesOf(price).every((rate) => rate % RATES_PER_NANO === 0) &&
    (long === null || LONG_INPUTS.includes(long.over))
  );
}

/** Whether a call of so many tokens may cost more than is accepted as an amount. */
export function mayBeTooLarge(tokens: number, price: Price): boolean {
  return tokens * Math.max(...ratesOf(price)) >= MOST_NANO_USD * RATES_PER_NANO;
}

function ratesOf(price: Price): number[] {
  const { long } = price;
  return [price, ...(long === null ? [] : [long])].flatMap((rates) => COST_PARTS.map((part) => rates[part]));
}
