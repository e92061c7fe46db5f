import { totalTokens } from '../../../src/runs/rules/completion.js';
import { COUNTS, WHOLE, type ToldCall } from '../../../src/runs/rules/told-calls.js';
import { countedOnce, type UsageNode } from '../../../src/runs/rules/usage.js';
import type { SpanRecord } from '../../../src/signal/span.js';
import type { TraceHeader } from '../../../src/signal/trace.js';
import type { ModelFilter, ModelUsage } from '../../../src/storage/models.js';

/** A span with the header of its run. */
export interface Call {
  readonly header: TraceHeader;
  span: SpanRecord;
}

/** What counts of spans of any runs, as the rule for the spans of one says. */
export function toldIn(spans: readonly SpanRecord[]): ReadonlyMap<string, ToldCall> {
  const runs = new Set(spans.map(({ trace_id }) => trace_id));
  return new Map(
    [...runs].flatMap((id) => [
      ...countedOnce(spans.filter(({ trace_id }) => trace_id === id).map(usageNode)).told,
    ]),
  );
}

/** What usage depends on in a span. */
export function usageNode(span: SpanRecord): UsageNode {
  const call_key = span.type === 'llm' ? (span.call?.key ?? null) : null;
  return { ...span, total_tokens: totalTokens(span), call_key };
}

/** What the store must give: looked for among all spans that are there. */
export function usageOf(calls: readonly Call[], { start_time, end_time }: ModelFilter): ModelUsage[] {
  const told = toldIn(calls.map(({ span }) => span));
  const counts = ({ span_id }: SpanRecord, bit: number): boolean =>
    ((told.get(span_id)?.counted ?? WHOLE) & bit) !== 0;
  const within = calls
    .map(({ span }) => span)
    .filter((span) => span.type === 'llm' && counts(span, WHOLE))
    .filter(({ started_at: at }) => at >= (start_time ?? -Infinity) && at <= (end_time ?? Infinity));
  const sum = (values: readonly (number | null)[]): number =>
    Number(values.reduce((all, value) => all + BigInt(value ?? 0), 0n));
  const usages = [...new Set(within.map(({ model }) => model))].map((model) => {
    const ofModel = within.filter((span) => span.model === model);
    const of = ofModel.filter((span) => counts(span, COUNTS.call));
    const priced = ofModel.filter((span) => span.cost_usd !== null && counts(span, COUNTS.cost));
    const starts = ofModel.map(({ started_at }) => started_at);
    return {
      model,
      calls: of.length,
      priced_calls: priced.length,
      input_tokens: sum(of.map(({ input_tokens }) => input_tokens)),
      output_tokens: sum(of.map(({ output_tokens }) => output_tokens)),
      total_tokens: sum(of.map(({ total_tokens }) => total_tokens)),
      total_cost: priced.length === 0 ? null : sum(priced.map(({ cost_usd }) => cost_usd)) / 1e9,
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
