import type { components } from '../api/generated/schema.js';
import type { RunSpan } from './span.js';

export type RunSummary = components['schemas']['TraceOutline'];

/** Converts a span of the API. */
export function toRunSpan(span: RunSummary['spans'][number]): RunSpan {
  return {
    id: span.span_id,
    parentId: span.parent_span_id,
    type: span.type,
    name: span.name,
    status: span.status,
    start: Date.parse(span.started_at),
    end: span.ended_at === null ? null : Date.parse(span.ended_at),
    model: span.model,
    inputTokens: span.input_tokens,
    outputTokens: span.output_tokens,
    tokens: span.total_tokens,
    cost: span.cost_usd,
    counted: span.counted !== false,
    sameAs: span.same_as ?? null,
    error: span.error_message,
    preview: span.preview ?? '',
    inputBytes: span.input_bytes,
    outputBytes: span.output_bytes,
  };
}

/** Applies new and changed spans; returns the same list if there are none. */
export function mergeSpans(known: readonly RunSpan[], updates: readonly RunSpan[]): readonly RunSpan[] {
  if (updates.length === 0) return known;
  const newest = new Map(updates.map((span) => [span.id, span]));
  const merged = known.map((span) => {
    const later = newest.get(span.id);
    newest.delete(span.id);
    return later ?? span;
  });
  return [...merged, ...newest.values()];
}
