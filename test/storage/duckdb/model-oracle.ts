import type { SpanRecord } from '../../../src/signal/span.js';
import type { TraceHeader } from '../../../src/signal/trace.js';
import type { ModelFilter, ModelUsage } from '../../../src/storage/models.js';

/** A span with the header of its run. */
export interface Call {
  readonly header: TraceHeader;
  span: SpanRecord;
}

/** What the store must give: looked for among all spans that are there. */
export function usageOf(calls: readonly Call[], { start_time, end_time }: ModelFilter): ModelUsage[] {
  const counted = calls
    .map(({ span }) => span)
    .filter(({ type }) => type === 'llm')
    .filter(({ started_at: at }) => at >= (start_time ?? -Infinity) && at <= (end_time ?? Infinity));
  const sum = (values: readonly (number | null)[]): number =>
    Number(values.reduce((all, value) => all + BigInt(value ?? 0), 0n));
  const usages = [...new Set(counted.map(({ model }) => model))].map((model) => {
    const of = counted.filter((span) => span.model === model);
    const priced = of.filter(({ cost_usd }) => cost_usd !== null);
    const starts = of.map(({ started_at }) => started_at);
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
