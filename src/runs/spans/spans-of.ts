import type { SpanLimits } from './span-limits.js';
import { FewSpans } from './few-spans.js';
import { ManySpans } from './many-spans.js';
import type { RunSpans } from './run-spans.js';
import type { SpanState } from './span-state.js';

/** The stored spans of a trace, in the form that suits their number. */
export function spansOf(spans: readonly SpanState[], { few: mostFew }: SpanLimits): RunSpans {
  if (spans.length > mostFew) return ManySpans.of(spans);
  const few = new FewSpans();
  for (const span of spans) few.put(span);
  return few;
}
