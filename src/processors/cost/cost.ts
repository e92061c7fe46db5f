import type { Component } from '../../component/component.js';
import type { Consumer } from '../../component/consumer.js';
import type { Settings } from '../../component/factory.js';
import type { JsonValue } from '../../signal/attributes.js';
import type { TracesBatch } from '../../signal/batch.js';
import { note, noted } from '../../signal/sent-span.js';
import type { SpanRecord } from '../../signal/span.js';
import { PriceFinder } from './price-finder.js';
import type { PriceTable } from './price-table.js';
import { costOf, type Price, type Tokens } from './token-cost.js';

/** How many models and providers have their prices remembered. */
const MAX_REMEMBERED = 10_000;
/** The name in `metadata` that says where a cost is from. */
const COST_SOURCE = 'cost_source';

/** What became of a span, as the metric has it. */
type Result = 'reported' | 'estimated' | 'unknown_model' | 'no_model' | 'no_parts' | 'too_large';

/** Processor `cost`: see README.md. */
export function createCost(
  settings: Pick<Settings<unknown>, 'id' | 'logger' | 'meter'>,
  { file, table }: { readonly file: string; readonly table: PriceTable },
  next: Consumer<TracesBatch>,
): Component & Consumer<TracesBatch> {
  const finder = new PriceFinder(table.models, MAX_REMEMBERED);
  const seen = settings.meter.counter('cost_spans_total', {
    description: 'Spans that report a cost, or tokens of a model call, by what became of their cost.',
    labelNames: ['processor', 'result'],
  });
  return {
    start: async () => {
      settings.logger.info({ file, date: table.date, entries: table.models.length }, 'Prices read');
    },
    async consume(batch, context) {
      const counts = new Map<Result, number>();
      for (const { spans } of batch.items) {
        for (const span of spans) {
          const result = price(span, finder);
          if (result !== undefined) counts.set(result, (counts.get(result) ?? 0) + 1);
        }
      }
      for (const [result, count] of counts) seen.add(count, { processor: settings.id, result });
      return next.consume(batch, context);
    },
  };
}

/** Gives a span its cost, if it should have one. @returns undefined where there is nothing to price. */
function price(span: SpanRecord, finder: PriceFinder): Result | undefined {
  if (span.cost_usd !== null) {
    // A cost that was estimated elsewhere is marked as estimated by its sender.
    if (noted(span, COST_SOURCE) !== 'estimated') note(span, COST_SOURCE, 'reported');
    return 'reported';
  }
  // A running span has not used all its tokens yet, and a cost once stored stays.
  if (span.type !== 'llm' || span.status === 'running') return undefined;
  if (span.input_tokens === null && span.output_tokens === null && span.total_tokens === null)
    return undefined;
  if (span.model === null) return 'no_model';
  const found = finder.find(span.model, textOf(noted(span, 'provider')));
  if (found === null) return 'unknown_model';
  const tokens = tokensOf(span, found);
  if (tokens === undefined) return 'no_parts';
  const cost = costOf(found, tokens);
  if (cost === undefined) return 'too_large';
  span.cost_usd = cost;
  note(span, COST_SOURCE, 'estimated');
  return 'estimated';
}

/**
 * The tokens of a call as its prices need them. Where input or output is missing, it is what the other leaves of the total; from
 * the total alone a cost follows only where output costs nothing, as for embeddings.
 */
function tokensOf(span: SpanRecord, { output: outputRate }: Price): Tokens | undefined {
  const { input_tokens, output_tokens, total_tokens } = span;
  if (input_tokens === null && output_tokens === null && outputRate !== 0) return undefined;
  const rest = (part: number) => Math.max(0, (total_tokens ?? 0) - part);
  const output = output_tokens ?? (input_tokens === null ? 0 : rest(input_tokens));
  const usage = noted(span, 'usage');
  const parts = typeof usage === 'object' && usage !== null && !Array.isArray(usage) ? usage : {};
  return {
    input: input_tokens ?? rest(output),
    output,
    cacheRead: countOf(parts.cache_read),
    cacheWrite: countOf(parts.cache_creation),
  };
}

function countOf(value: JsonValue | undefined): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0;
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
