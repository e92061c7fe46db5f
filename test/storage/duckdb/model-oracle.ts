import { totalTokens } from '../../../src/runs/rules/completion.js';
import { COUNTS } from '../../../src/runs/rules/duplicate-calls.js';
import {
  countedOnce,
  countedUsage,
  shareOf,
  USUAL_COUNTS,
  type SpanCounts,
  type UsageNode,
} from '../../../src/runs/rules/usage.js';
import { TYPE_CODES } from '../../../src/signal/trace-map.js';
import type { SpanRecord } from '../../../src/signal/span.js';
import type { TraceHeader } from '../../../src/signal/trace.js';
import { SUMMED_PARTS, type SummedPart } from '../../../src/signal/call-details.js';
import type { Price } from '../../../src/signal/price.js';
import { costOf, tokensOf } from '../../../src/signal/token-cost.js';
import { summedTokens } from '../../../src/signal/call-tokens.js';
import {
  type ModelFilter,
  type ModelPerformance,
  type ModelUsage,
  type RepricedCalls,
  type RepricedFilter,
  UNPRICEABLE,
  type Unpriceable,
} from '../../../src/storage/contracts/runs.js';

/** A span with the header of its run. */
export interface Call {
  readonly header: TraceHeader;
  span: SpanRecord;
}

/** What counts of spans of any runs, by the rule for the spans of one run. */
export function countsIn(spans: readonly SpanRecord[]): ReadonlyMap<string, SpanCounts> {
  const runs = new Set(spans.map(({ trace_id }) => trace_id));
  return new Map(
    [...runs].flatMap((id) => [
      ...countedOnce(spans.filter(({ trace_id }) => trace_id === id).map(usageNode)).counts,
    ]),
  );
}

/** The fields of a span that usage depends on. */
export function usageNode(span: SpanRecord): UsageNode {
  const call_key = span.type === 'llm' ? (span.call?.key ?? null) : null;
  return { ...span, type: TYPE_CODES[span.type], total_tokens: totalTokens(span), call_key };
}

function callsWithin(calls: readonly Call[], { start_time, end_time }: ModelFilter) {
  const found = countsIn(calls.map(({ span }) => span));
  const countsOf = ({ span_id }: SpanRecord): SpanCounts => found.get(span_id) ?? USUAL_COUNTS;
  const counts = (span: SpanRecord, bit: number): boolean =>
    span.type === 'llm' && (countsOf(span).counted & bit) !== 0;
  const usage = (span: SpanRecord) => countedUsage({ ...usageNode(span), ...countsOf(span) });
  const within = calls
    .map(({ span }) => span)
    .filter((span) => {
      const { total_tokens: tokens, total_cost_usd: cost } = usage(span);
      return (span.type === 'llm' && countsOf(span).counted !== 0) || (tokens ?? 0) > 0 || (cost ?? 0) > 0;
    })
    .filter(({ started_at: at }) => at >= (start_time ?? -Infinity) && at <= (end_time ?? Infinity));
  return { within, counts, usage };
}

function sum(values: readonly (number | null)[]): number {
  return Number(values.reduce((all, value) => all + BigInt(value ?? 0), 0n));
}

/** The cost of calls, each priced by the `cost` processor. */
export function repricedOf(
  calls: readonly Call[],
  { model, ...filter }: RepricedFilter,
  price: Price,
): RepricedCalls {
  const { within, counts, usage } = callsWithin(calls, filter);
  const all = within
    .filter((span) => span.model === model)
    .map((span) => {
      const { input_tokens, output_tokens, total_tokens, status, call } = span;
      const { total_cost_usd: cost_usd } = usage(span);
      const hasNone = input_tokens === null && output_tokens === null && total_tokens === null;
      const tokens = tokensOf(span, call?.usage ?? null, price);
      const cost = tokens && costOf(price, tokens);
      const why: Unpriceable | undefined =
        status === 'running'
          ? 'running'
          : hasNone
            ? 'no_tokens'
            : tokens === undefined
              ? 'no_parts'
              : cost === undefined
                ? 'too_large'
                : undefined;
      const isCall = counts(span, COUNTS.call);
      const isPriced = cost_usd !== null && counts(span, COUNTS.cost);
      return { isCall, isPriced, isDone: isCall && why === undefined, why, cost_usd, cost, tokens };
    });
  const done = all.filter(({ isDone }) => isDone);
  const priced = all.filter(({ isPriced }) => isPriced);
  const both = done.filter(({ isPriced }) => isPriced);
  const dollars = (of: typeof all, what: (one: (typeof all)[number]) => number | null): number | null =>
    of.length === 0 ? null : sum(of.map(what)) / 1e9;
  const real = ({ cost_usd }: (typeof all)[number]) => cost_usd;
  const recomputed = ({ cost }: (typeof all)[number]) => cost?.total ?? 0;
  return {
    calls: all.filter(({ isCall }) => isCall).length,
    priced_calls: priced.length,
    total_cost: dollars(priced, real),
    repriced_calls: done.length,
    repriced_cost: dollars(done, recomputed),
    both_calls: both.length,
    both_cost: dollars(both, real),
    both_repriced_cost: dollars(both, recomputed),
    left_out: Object.fromEntries(
      UNPRICEABLE.map((reason) => [reason, all.filter(({ isCall, why }) => isCall && why === reason).length]),
    ) as Record<Unpriceable, number>,
    tokens: Object.fromEntries(
      SUMMED_PARTS.map((part) => [
        part,
        sum(done.map(({ tokens }) => (tokens === undefined ? 0 : summedTokens(tokens)[part]))),
      ]),
    ) as Record<SummedPart, number>,
    long_calls: done.filter(({ cost }) => cost?.isLong).length,
  };
}

/** The performance of each model's calls without its agents, by model; numbers are rounded, because engines add in different orders. */
export function performanceOf(calls: readonly Call[], filter: ModelFilter): object[] {
  const { within, counts } = callsWithin(calls, filter);
  return [...new Set(within.map(({ model }) => model))].flatMap((model) => {
    const own = within.filter((span) => span.model === model && counts(span, COUNTS.call));
    const [first] = own;
    if (first === undefined) return [];
    const timed = own.filter((span) => span.output_tokens !== null && (span.duration_ms ?? 0) > 0);
    const unpriced = own.filter((span) => span.cost_usd === null && counts(span, COUNTS.cost));
    const hasTokens = (span: SpanRecord): boolean =>
      [span.input_tokens, span.output_tokens, span.total_tokens].some((tokens) => tokens !== null);
    const durations = own.flatMap(({ duration_ms }) => duration_ms ?? []);
    const ms = timed.reduce((all, { duration_ms }) => all + (duration_ms ?? 0), 0);
    return {
      model,
      failed_calls: own.filter(({ status }) => status === 'failed').length,
      p50_ms: rounded(quantile(durations, 0.5)),
      p95_ms: rounded(quantile(durations, 0.95)),
      first_chunk_ms: rounded(
        quantile(
          own.flatMap(({ call }) => call?.time_to_first_chunk_ms ?? []),
          0.5,
        ),
      ),
      tokens_per_second: rounded(
        timed.length === 0 ? null : (1000 * sum(timed.map((span) => span.output_tokens))) / ms,
      ),
      without_tokens: unpriced.filter((span) => !hasTokens(span)).length,
      without_price: unpriced.filter(hasTokens).length,
    };
  });
}

/** A stored performance in the form of {@link performanceOf}. */
export function roundedPerformance(found: ModelPerformance): object {
  const { model, failed_calls, without_tokens, without_price } = found;
  return {
    model,
    failed_calls,
    p50_ms: rounded(found.p50_ms),
    p95_ms: rounded(found.p95_ms),
    first_chunk_ms: rounded(found.first_chunk_ms),
    tokens_per_second: rounded(found.tokens_per_second),
    without_tokens,
    without_price,
  };
}

function quantile(values: readonly number[], share: number): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  const rank = share * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(rank)], sorted[Math.ceil(rank)]];
  return low === undefined || high === undefined ? null : low + (high - low) * (rank - Math.floor(rank));
}

function rounded(value: number | null): number | null {
  return value === null ? null : Number(value.toPrecision(7));
}

/** The expected usage, computed from all spans. */
export function usageOf(calls: readonly Call[], filter: ModelFilter): ModelUsage[] {
  const { within, counts, usage } = callsWithin(calls, filter);
  const usages = [...new Set(within.map(({ model }) => model))].map((model) => {
    const ofModel = within.filter((span) => span.model === model);
    const of = ofModel.filter((span) => counts(span, COUNTS.call));
    const priced = ofModel.filter((span) => span.cost_usd !== null && counts(span, COUNTS.cost));
    const cost = sum(ofModel.map((span) => usage(span).total_cost_usd));
    const share = (span: SpanRecord, part: number | null): number =>
      shareOf(part, usage(span).total_tokens, totalTokens(span));
    const starts = ofModel.map(({ started_at }) => started_at);
    return {
      model,
      calls: of.length,
      priced_calls: priced.length,
      input_tokens: sum(ofModel.map((span) => share(span, span.input_tokens))),
      output_tokens: sum(ofModel.map((span) => share(span, span.output_tokens))),
      total_tokens: sum(ofModel.map((span) => usage(span).total_tokens)),
      total_cost: priced.length === 0 && cost === 0 ? null : cost / 1e9,
      first_call_at: Math.min(...starts),
      last_call_at: Math.max(...starts),
    };
  });
  const order = (usage: ModelUsage): number => usage.total_cost ?? -1;
  return usages.sort(
    (a, b) =>
      order(b) - order(a) || b.calls - a.calls || ((a.model ?? '\uffff') < (b.model ?? '\uffff') ? -1 : 1),
  );
}
