import type { CostPart } from '../signal/call-details.js';

/** Which tokens of a call are priced as what (`processors/cost/token-cost.ts`), in SQL that every engine reads. */

/** Parts of the usage that a call may tell, as `printCall` keeps them, and the columns that queries make of them. */
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
