import type { NanoUsd } from '../../signal/money.js';
import type { SpanRecord } from '../../signal/span.js';
import type { TraceRecord } from '../../signal/trace.js';

/** The tokens of a run: what its header tells, otherwise those of its spans. */
export function totalTokens({ trace, spans }: TraceRecord): number | null {
  return trace.total_tokens ?? sumOf(spans, tokensOf);
}

/** The cost of a run, likewise. */
export function totalCost({ trace, spans }: TraceRecord): NanoUsd | null {
  return trace.total_cost_usd ?? sumOf(spans, ({ cost_usd }) => cost_usd);
}

function tokensOf({ total_tokens, input_tokens, output_tokens }: SpanRecord): number | null {
  if (total_tokens !== null) return total_tokens;
  return input_tokens === null && output_tokens === null ? null : (input_tokens ?? 0) + (output_tokens ?? 0);
}

/** Null where no span has any. */
function sumOf(spans: readonly SpanRecord[], read: (span: SpanRecord) => number | null): number | null {
  let sum: number | null = null;
  for (const span of spans) {
    const one = read(span);
    if (one !== null) sum = (sum ?? 0) + one;
  }
  return sum;
}
