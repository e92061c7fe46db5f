import type { components } from '../../api/generated/schema.js';
import { formatCount, formatCounted, formatMoney, formatPercentage } from '../../format/number.js';
import type { Field } from '../../state/codec.js';

export type WhatIfAnswer = components['schemas']['WhatIf'];
type Repriced = components['schemas']['WhatIfCalls'];
type ModelPrice = components['schemas']['ModelPrice'];

/** A called model and its replacement. */
export interface Swap {
  /** Empty for calls without a model name. */
  readonly model: string;
  readonly as: string;
}

/** Limit of estimates at once. */
export const MAX_SWAPS = 10;
/** API limit. */
const LONGEST_NAME = 1024;

/** `gpt-5:gpt-5-mini,o3:gpt-5`, each name percent-encoded. */
export const swapsField: Field<readonly Swap[]> = {
  initial: [],
  parse: (text) => {
    try {
      const swaps = text.split(',').map((pair) => pair.split(':').map(decodeURIComponent));
      const isRight = swaps.every(
        ([model, as = '', ...rest]) =>
          model !== undefined && as !== '' && rest.length === 0 && model.length + as.length <= LONGEST_NAME,
      );
      if (!isRight || swaps.length > MAX_SWAPS) return undefined;
      return swaps.reduce<readonly Swap[]>((all, [model = '', as = '']) => withSwap(all, { model, as }), []);
    } catch {
      // Invalid percent-encoding.
      return undefined;
    }
  },
  print: (swaps) =>
    swaps.length === 0
      ? undefined
      : swaps.map(({ model, as }) => `${encodeURIComponent(model)}:${encodeURIComponent(as)}`).join(','),
};

/** Adds a swap; it replaces another one of the same model. */
export function withSwap(swaps: readonly Swap[], swap: Swap): readonly Swap[] {
  return [...swaps.filter(({ model }) => model !== swap.model), swap];
}

/** Why there is no estimate. */
const REASONS: Readonly<Record<NonNullable<WhatIfAnswer['reason']>, string>> = {
  no_prices: 'No prices: no pipeline has the processor cost',
  unknown_model: 'Not in the price list',
  certain_providers: 'Priced for certain providers only',
};

/** Why an answer has no estimate; undefined if it has one. */
export function missingReason({ reason, repriced }: WhatIfAnswer): string | undefined {
  if (reason !== null) return REASONS[reason];
  if (repriced === null) return 'Unknown';
  if (repriced.calls === 0) return 'No calls of this model in this period';
  return repriced.repriced_cost === null ? 'No calls report enough token counts' : undefined;
}

/** `+12.5%`; `−$0.20` if the base is 0; `none`. @param now, then in US dollars */
export function formatDifference(now: number, then: number): string {
  const by = then - now;
  if (by === 0) return 'none';
  const sign = by > 0 ? '+' : '−';
  return `${sign}${now === 0 ? formatMoney(Math.abs(by)) : formatPercentage((Math.abs(by) / now) * 100)}`;
}

/** The sum over all comparable answers; null without any. */
export function together(answers: readonly WhatIfAnswer[]): {
  readonly calls: number;
  readonly now: number | null;
  readonly then: number | null;
} {
  const sum = (what: (of: Repriced) => number | null): number | null =>
    answers.reduce<number | null>((all, { repriced }) => {
      const value = repriced === null ? null : what(repriced);
      return value === null ? all : (all ?? 0) + value;
    }, null);
  return {
    calls: sum(({ both_calls }) => both_calls) ?? 0,
    now: sum(({ both_cost }) => both_cost),
    then: sum(({ both_repriced_cost }) => both_repriced_cost),
  };
}

/** The assumptions of an estimate in sentences. */
export function remarks({ as, price, providers, repriced }: WhatIfAnswer): readonly string[] {
  if (price === null || repriced === null) {
    const names = providers.map(({ provider }) => provider).join(', ');
    return names === '' ? [] : [`${as} is priced for these providers only: ${names}.`];
  }
  const { left_out: out, tokens, calls, repriced_calls, both_calls, long_calls } = repriced;
  const left = [
    [out.running, 'still running'],
    [out.no_tokens, 'without tokens'],
    [out.no_parts, 'with only a token total'],
    [out.too_large, 'with an implausible cost'],
  ] as const;
  const why = left.flatMap(([count, words]) => (count === 0 ? [] : [`${formatCount(count)} ${words}`]));
  const cached = tokens.cached_read + tokens.cached_write;
  const isCacheCheap = price.cached_read !== price.input;
  return [
    ...(why.length === 0
      ? []
      : [
          `${formatCounted(calls - repriced_calls, 'call')} of ${formatCount(calls)} excluded: ${why.join(', ')}.`,
        ]),
    ...(both_calls < repriced_calls
      ? [
          `${formatCounted(repriced_calls - both_calls, 'call')} of ${formatCount(repriced_calls)} ${repriced_calls - both_calls === 1 ? 'has' : 'have'} no actual cost and ${repriced_calls - both_calls === 1 ? 'is' : 'are'} excluded from the difference.`,
        ]
      : []),
    ...(cached === 0
      ? []
      : [
          isCacheCheap
            ? `${formatCounted(cached, 'cached input token')} at the cache prices of ${as}, assuming the same caching.`
            : `${as} has no cache prices: ${formatCounted(cached, 'cached input token')} at its input price.`,
        ]),
    ...(long_calls === 0 ? [] : [`${formatCounted(long_calls, 'call')} at the price for long inputs.`]),
    ...(providers.length === 0
      ? []
      : [`Prices differ for ${providers.map(({ provider }) => provider).join(', ')}.`]),
  ];
}

/** Replacement models that a price list knows, those in use first. */
export function candidates(prices: readonly ModelPrice[], processor: string): readonly string[] {
  const names = prices.filter((row) => row.processor === processor && row.price !== null);
  return [...new Set(names.map(({ model }) => model))];
}

/** Price processors in API order, with their pipelines. */
export function processorsOf(prices: readonly ModelPrice[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    prices.map(({ processor, pipelines }) => [processor, `${processor} (${pipelines.join(', ')})`]),
  );
}
