import type { Component } from '../../component/component.js';
import type { Consumer } from '../../component/consumer.js';
import type { Settings } from '../../component/factory.js';
import type { TracesBatch } from '../../signal/batch.js';
import type { SpanRecord } from '../../signal/span.js';
import { costOf, tokensOf } from '../../signal/token-cost.js';
import type { PriceTable, PricedModels } from './price-table.js';
import type { PriceRule, PriceSource } from '../../component/prices.js';
import { LRUCache } from 'lru-cache';

/** Maximum number of cached prices, by model and provider. */
const MAX_REMEMBERED = 10_000;

/** The result label of the metric. */
type Result = 'reported' | 'priced' | 'unknown_model' | 'no_model' | 'no_parts' | 'too_large';

/** How spans are priced. */
interface Pricing {
  readonly finder: PriceFinder;
  /** Whether a reported cost of 0 is trusted although there are tokens. */
  readonly trustZero: boolean;
}

/** Processor `cost`: see README.md. */
export function createCost(
  settings: Pick<Settings<unknown>, 'id' | 'logger' | 'meter'>,
  {
    file,
    table,
    trustZero,
  }: { readonly file: string; readonly table: PriceTable; readonly trustZero: boolean },
  next: Consumer<TracesBatch>,
): Component & Consumer<TracesBatch> {
  const pricing = { finder: new PriceFinder(table.models, MAX_REMEMBERED), trustZero };
  const seen = settings.meter.counter('cost_spans_total', {
    description: 'Spans that report a cost or tokens of a model call, by how their cost was determined.',
    labelNames: ['processor', 'result'],
  });
  return {
    start: async (host) => {
      host.prices.offer(offeredPrices(settings.id, table));
      settings.logger.info({ file, date: table.date, entries: table.models.length }, 'Prices read');
    },
    async consume(batch, context) {
      const counts = new Map<Result, number>();
      for (const { spans } of batch.items) {
        for (const span of spans) {
          const result = price(span, pricing);
          if (result !== undefined) counts.set(result, (counts.get(result) ?? 0) + 1);
        }
      }
      for (const [result, count] of counts) seen.add(count, { processor: settings.id, result });
      return next.consume(batch, context);
    },
  };
}

/** Sets the cost of a span, if it should have one. @returns undefined if there is nothing to price. */
function price(span: SpanRecord, pricing: Pricing): Result | undefined {
  if (span.cost_usd === null) return priced(span, pricing);
  if (span.cost_usd > 0 || span.type !== 'llm' || !hasTokens(span)) return 'reported';
  if (pricing.trustZero || span.call?.isCacheHit === true) return 'reported';
  if (span.status === 'running') {
    // A stored cost is never replaced, so an untrusted 0 is cleared: the call may be priced when it ends.
    span.cost_usd = null;
    return undefined;
  }
  return priced(span, pricing) === 'priced' ? 'priced' : 'reported';
}

function priced(span: SpanRecord, { finder }: Pricing): Result | undefined {
  // A running span has not used all its tokens yet, and a stored cost is never replaced.
  if (span.type !== 'llm' || span.status === 'running' || !hasTokens(span)) return undefined;
  // A reported cost of 0 is right for a failed call: it was not charged.
  if (hasFailed(span) && !usedTokens(span)) return undefined;
  if (span.model === null) return 'no_model';
  const { provider = null, usage = null, tier } = span.call ?? {};
  const found = finder.find(span.model, provider ?? '');
  if (found === null) return 'unknown_model';
  const tokens = tokensOf(span, usage, found.price);
  if (tokens === undefined) return 'no_parts';
  const factor = tier === undefined ? 1 : found.price.tiers?.[tier];
  const cost = costOf(found.price, tokens, factor);
  if (cost === undefined) return 'too_large';
  const over = cost.isLong ? ` over ${found.price.long?.over ?? 0}` : '';
  const marked = tier === undefined ? {} : { tier: factor === undefined ? ('unpriced' as const) : tier };
  span.cost_usd = cost.total;
  span.call = {
    ...span.call,
    provider,
    usage,
    cost: { source: 'priced', rule: found.rule + over, ...marked, ...cost.parts },
  };
  return 'priced';
}

function hasTokens({ input_tokens, output_tokens, total_tokens }: SpanRecord): boolean {
  return input_tokens !== null || output_tokens !== null || total_tokens !== null;
}

function hasFailed({ status }: SpanRecord): boolean {
  return status === 'failed' || status === 'timed_out';
}

function usedTokens({ input_tokens, output_tokens, total_tokens }: SpanRecord): boolean {
  return (input_tokens ?? 0) + (output_tokens ?? 0) + (total_tokens ?? 0) > 0;
}

/** The public view of a price table. @param processor id of the processor that uses it */
function offeredPrices(processor: string, { models: entries }: PriceTable): PriceSource {
  const rulesOf = (model: string): readonly PriceRule[] => {
    const rules: PriceRule[] = [];
    const providers = new Set<string>();
    for (const { match, rule, price, providerPattern: provider } of entries) {
      if (!match.some((fits) => fits(model))) continue;
      // Of two entries for the same providers, the first counts.
      if (provider !== null && providers.has(provider)) continue;
      rules.push({ rule, provider, price });
      if (provider === null) break;
      providers.add(provider);
    }
    return rules;
  };
  // An earlier entry that also matches the name takes precedence.
  const models = entries.flatMap(({ name, rule }) =>
    name !== '' && rulesOf(name).some((found) => found.rule === rule) ? [name] : [],
  );
  return { processor, models: [...new Set(models)], rulesOf };
}

/**
 * Finds the table entry of a model. Tables are searched from the top, so results are cached, including unknown models; beyond
 * `maxRemembered`, the least recently used result is evicted, because senders choose names.
 */
export class PriceFinder {
  readonly #models: readonly PricedModels[];
  readonly #remembered: LRUCache<string, { readonly entry: PricedModels | null }>;

  constructor(models: readonly PricedModels[], maxRemembered: number) {
    this.#models = models;
    this.#remembered = new LRUCache({ max: maxRemembered });
  }

  /**
   * @param provider empty if unknown
   * @returns null for a model that is not in the table
   */
  find(model: string, provider: string): PricedModels | null {
    // Real names contain no line breaks; with one, only the price of this span may be wrong.
    const key = `${provider}\n${model}`;
    const known = this.#remembered.get(key);
    if (known !== undefined) return known.entry;
    const found = this.#models.find(
      (candidate) =>
        (candidate.provider === null || (provider !== '' && candidate.provider(provider))) &&
        candidate.match.some((fits) => fits(model)),
    );
    const entry = found ?? null;
    this.#remembered.set(key, { entry });
    return entry;
  }
}
