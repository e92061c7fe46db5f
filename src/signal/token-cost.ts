import { MOST_NANO_USD, type NanoUsd } from './money.js';
import { COST_PARTS, type CostPart, type UsageParts } from './call-details.js';
import { RATES_PER_NANO, type Price, type Rates } from './price.js';
import { inputLength, tokensByPart, tokensOfCall, type Tokens, type ReportedTokens } from './call-tokens.js';

/** The cost of a call. */
export interface Cost {
  readonly total: NanoUsd;
  /** By token kind; the parts add up to the total. */
  readonly parts: { readonly [Part in CostPart]?: NanoUsd };
  /** Whether the rates for long inputs apply. */
  readonly isLong: boolean;
}

/**
 * The token counts of a call for pricing. A total alone is enough only if output is free, as for embeddings.
 *
 * @returns undefined if the counts are insufficient
 */
export function tokensOf(
  reported: ReportedTokens,
  usage: UsageParts | null,
  { output: outputRate }: Price,
): Tokens | undefined {
  const { input_tokens, output_tokens } = reported;
  if (input_tokens === null && output_tokens === null && outputRate !== 0) return undefined;
  return tokensOfCall(reported, usage);
}

/**
 * The cost of a call: each token is charged once, at the price of its kind. Exact, and rounded once at the end, half to even. Parts
 * are differences of cumulative sums, so they add up.
 *
 * @param factor of the call's service tier
 * @returns undefined if the cost exceeds the maximum amount of money
 */
export function costOf(price: Price, tokens: Tokens, factor = 1): Cost | undefined {
  const isLong = price.long !== null && inputLength(tokens) > price.long.over;
  const rates = allRates(isLong ? price.long : price, factor);
  const counts = tokensByPart(tokens);
  // If a double holds the sum exactly, it also holds its parts exactly.
  const rough = COST_PARTS.reduce((sum, part) => sum + counts[part] * rates[part], 0);
  const costs = rough <= Number.MAX_SAFE_INTEGER ? sumsUpTo(counts, rates) : largeSumsUpTo(counts, rates);
  const total = costs.at(-1) ?? 0;
  if (total > MOST_NANO_USD) return undefined;
  const parts: { [Part in CostPart]?: NanoUsd } = {};
  let before = 0;
  COST_PARTS.forEach((part, i) => {
    const upTo = costs[i] ?? 0;
    if (counts[part] > 0) parts[part] = upTo - before;
    before = upTo;
  });
  return { total, parts, isLong };
}

function allRates(rates: Rates, factor: number): AllRates {
  const rate = (part: CostPart): number => {
    const own = rates[part] ?? rates.cached_write;
    return factor === 1 ? own : Math.round(own * factor);
  };
  return {
    input: rate('input'),
    cached_read: rate('cached_read'),
    cached_write: rate('cached_write'),
    cached_write_5m: rate('cached_write_5m'),
    cached_write_1h: rate('cached_write_1h'),
    audio_input: rate('audio_input'),
    output: rate('output'),
    audio_output: rate('audio_output'),
  };
}

type AllRates = Readonly<Record<CostPart, number>>;

/** Cumulative cost of the kinds up to each one. */
function sumsUpTo(counts: Record<CostPart, number>, rates: AllRates): NanoUsd[] {
  let sum = 0;
  return COST_PARTS.map((part) => roundHalfEven((sum += counts[part] * rates[part])));
}

function largeSumsUpTo(counts: Record<CostPart, number>, rates: AllRates): NanoUsd[] {
  let sum = 0n;
  return COST_PARTS.map((part) => roundLarge((sum += BigInt(counts[part]) * BigInt(rates[part]))));
}

function roundHalfEven(sum: number): NanoUsd {
  const rest = sum % RATES_PER_NANO;
  const kept = (sum - rest) / RATES_PER_NANO;
  const isUp = rest > RATES_PER_NANO / 2 || (rest === RATES_PER_NANO / 2 && kept % 2 === 1);
  return isUp ? kept + 1 : kept;
}

function roundLarge(sum: bigint): NanoUsd {
  const scale = BigInt(RATES_PER_NANO);
  const rest = sum % scale;
  const kept = sum / scale;
  const isUp = rest > scale / 2n || (rest === scale / 2n && kept % 2n === 1n);
  return Number(isUp ? kept + 1n : kept);
}
