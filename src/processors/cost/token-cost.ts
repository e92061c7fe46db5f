import { MOST_NANO_USD, type NanoUsd } from '../../signal/money.js';
import { COST_PARTS, type CostPart, type UsageParts } from '../../signal/call-details.js';
import { RATES_PER_NANO, type Price, type Rates } from '../../signal/price.js';
import type { SpanRecord } from '../../signal/span.js';

/** The tokens of one call. Whole numbers. */
export interface Tokens {
  /** Including those read from and written to a cache, and those of audio. */
  readonly input: number;
  /** Including those of reasoning and of audio. */
  readonly output: number;
  readonly cachedRead: number;
  readonly cachedWrite: number;
  readonly audioInput: number;
  readonly audioOutput: number;
}

/** What a call costs. */
export interface Cost {
  readonly total: NanoUsd;
  /** Of each kind of tokens that there are; they add up to the total. */
  readonly parts: { readonly [Part in CostPart]?: NanoUsd };
  /** Whether the rates for long inputs applied. */
  readonly isLong: boolean;
}

/**
 * The tokens of a call as its prices need them. Where input or output is missing, it is what the other leaves of the total; from
 * the total alone a cost follows only where output costs nothing, as for embeddings.
 *
 * @returns undefined where none follows
 */
export function tokensOf(
  {
    input_tokens,
    output_tokens,
    total_tokens,
  }: Pick<SpanRecord, 'input_tokens' | 'output_tokens' | 'total_tokens'>,
  usage: UsageParts | null,
  { output: outputRate }: Price,
): Tokens | undefined {
  if (input_tokens === null && output_tokens === null && outputRate !== 0) return undefined;
  const rest = (part: number) => Math.max(0, (total_tokens ?? 0) - part);
  const output = output_tokens ?? (input_tokens === null ? 0 : rest(input_tokens));
  return {
    input: input_tokens ?? rest(output),
    output,
    cachedRead: usage?.cached_read ?? 0,
    cachedWrite: usage?.cached_write ?? 0,
    audioInput: usage?.audio_input ?? 0,
    audioOutput: usage?.audio_output ?? 0,
  };
}

/**
 * The cost of a call: each token at the price of its kind, once. Exact, and rounded once at the end, half to even; the parts are sums of
 * the same kind up to each of them, so that they add up.
 *
 * @returns undefined where it is more than is accepted as an amount of money
 */
export function costOf(price: Price, tokens: Tokens): Cost | undefined {
  const { cachedRead, cachedWrite } = tokens;
  const whole = Math.max(tokens.input, cachedRead + cachedWrite);
  const isLong = price.long !== null && whole > price.long.over;
  const rates: Rates = isLong ? price.long : price;
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

/** Every token in one kind. Some report only the input outside the caches; then nothing is left of it here. */
export function tokensByPart(tokens: Tokens): Record<CostPart, number> {
  const { input, output, cachedRead, cachedWrite } = tokens;
  const fresh = Math.max(0, input - cachedRead - cachedWrite);
  // What a cache gave of audio costs what it gives of text.
  const audioInput = Math.min(tokens.audioInput, fresh);
  const audioOutput = Math.min(tokens.audioOutput, output);
  return {
    input: fresh - audioInput,
    cached_read: cachedRead,
    cached_write: cachedWrite,
    audio_input: audioInput,
    output: output - audioOutput,
    audio_output: audioOutput,
  };
}

/** What the kinds up to each one cost together. */
function sumsUpTo(counts: Record<CostPart, number>, rates: Rates): NanoUsd[] {
  let sum = 0;
  return COST_PARTS.map((part) => roundHalfEven((sum += counts[part] * rates[part])));
}

function largeSumsUpTo(counts: Record<CostPart, number>, rates: Rates): NanoUsd[] {
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
