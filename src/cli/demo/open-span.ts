import type { JsonObject } from '../../signal/attributes.js';
import type { RunStatus, SpanType } from '../../signal/span.js';
import type { SpanBody } from './body.js';

/** A span that is being recorded. */
export interface OpenSpan {
  readonly id: string;
  readonly parentId: string | undefined;
  readonly type: SpanType;
  readonly name: string;
  readonly startMs: number;
  endMs: number;
  status: RunStatus;
  input?: JsonObject | undefined;
  output?: JsonObject | undefined;
  metadata?: JsonObject | undefined;
  error?: string;
  usage?: ModelUsage;
}

interface ModelUsage {
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Millionths of a dollar; null where the model has no price. */
  readonly costMicros: number | null;
}

/** @returns what an SDK sends for the span once it has ended. */
export function spanBody(traceId: string, span: OpenSpan): SpanBody {
  return {
    span_id: span.id,
    trace_id: traceId,
    ...(span.parentId !== undefined && { parent_span_id: span.parentId }),
    type: span.type,
    name: span.name,
    status: span.status,
    started_at: new Date(span.startMs).toISOString(),
    ended_at: new Date(span.endMs).toISOString(),
    duration_ms: span.endMs - span.startMs,
    ...(span.usage && {
      model: span.usage.model,
      input_tokens: span.usage.inputTokens,
      output_tokens: span.usage.outputTokens,
      total_tokens: span.usage.inputTokens + span.usage.outputTokens,
      ...(span.usage.costMicros !== null && { cost_usd: decimal(span.usage.costMicros) }),
    }),
    ...(span.input && { input_data: span.input }),
    ...(span.output && { output_data: span.output }),
    ...(span.error !== undefined && { error_message: span.error }),
    ...(span.metadata && { metadata: span.metadata }),
  };
}

/** Micro-USD as a decimal string with six fractional digits. */
export function decimal(micros: number): string {
  return (micros / 1e6).toFixed(6);
}
