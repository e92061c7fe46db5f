import type { SpanRecord } from '../../../signal/span.js';
import type { TraceHeader } from '../../../signal/trace.js';

/**
 * Jackdaw's own attributes, which carry values without an OTLP field from one Jackdaw to another. They override every other
 * convention and are not kept in `metadata`. This is the only list of them, for the exporter and the mapping.
 *
 * Encoding of a field's value: `text`; `number` and `boolean`; `money` as a decimal string (`0.001250`); `time` as ISO 8601;
 * `object` as JSON text. A null field is left out, or written as an empty value.
 */
type Writing = 'text' | 'number' | 'boolean' | 'money' | 'time' | 'object';

export interface OwnAttribute {
  readonly key: string;
  readonly as: Writing;
}

/** Fields without an own attribute: OTLP has fields for them, or the mapping derives them. */
type FromOtlp =
  | 'trace_id'
  | 'parent_is_remote'
  | 'started_at'
  | 'ended_at'
  | 'agent_hint'
  | 'map_hint'
  | 'run_kind'
  | 'context'
  | 'prompt'
  | 'scores';

/**
 * The fields of a span. On a span with {@link VERBATIM} they are complete: a missing field is null, and other attributes, which may be
 * present for other readers, are ignored. On any other span each of them overrides the one field that the conventions would set.
 */
export const SPAN_ATTRIBUTES: Readonly<Record<Exclude<keyof SpanRecord, FromOtlp>, OwnAttribute>> = {
  span_id: { key: 'jackdaw.span.id', as: 'text' },
  parent_span_id: { key: 'jackdaw.span.parent_id', as: 'text' },
  type: { key: 'jackdaw.span.type', as: 'text' },
  name: { key: 'jackdaw.span.name', as: 'text' },
  status: { key: 'jackdaw.span.status', as: 'text' },
  duration_ms: { key: 'jackdaw.span.duration_ms', as: 'number' },
  model: { key: 'jackdaw.span.model', as: 'text' },
  input_tokens: { key: 'jackdaw.span.input_tokens', as: 'number' },
  output_tokens: { key: 'jackdaw.span.output_tokens', as: 'number' },
  total_tokens: { key: 'jackdaw.span.total_tokens', as: 'number' },
  cost_usd: { key: 'jackdaw.span.cost_usd', as: 'money' },
  error_message: { key: 'jackdaw.span.error_message', as: 'text' },
  input_data: { key: 'jackdaw.span.input_data', as: 'object' },
  output_data: { key: 'jackdaw.span.output_data', as: 'object' },
  metadata: { key: 'jackdaw.span.metadata', as: 'object' },
  /** {@link CallDetails} as they are stored. Also on a span received by OTLP whose cost was calculated from a price table. */
  call: { key: 'jackdaw.span.call', as: 'object' },
};

/**
 * True on a span that was not received by OTLP (its `metadata` has no `otel`), so that it arrives unchanged, field by field: with ids
 * that are not OTLP ids, names, and times of its own.
 */
export const VERBATIM = 'jackdaw.verbatim';

/**
 * A declared header (`follows_spans` is false), on one span of its trace: all fields that are not null. Without `agent` and
 * `started_at` there is no header. `sample_rate` is also sent alone, for a header that follows its spans.
 */
export const TRACE_ATTRIBUTES: Readonly<
  Record<
    Exclude<keyof TraceHeader, 'trace_id' | 'kind' | 'follows_spans' | 'idle_timeout_ms' | 'orphan_wait_ms'>,
    OwnAttribute
  >
> = {
  agent: { key: 'jackdaw.trace.agent', as: 'text' },
  status: { key: 'jackdaw.trace.status', as: 'text' },
  started_at: { key: 'jackdaw.trace.started_at', as: 'time' },
  ended_at: { key: 'jackdaw.trace.ended_at', as: 'time' },
  duration_ms: { key: 'jackdaw.trace.duration_ms', as: 'number' },
  success: { key: 'jackdaw.trace.success', as: 'boolean' },
  outcome: { key: 'jackdaw.trace.outcome', as: 'text' },
  error_message: { key: 'jackdaw.trace.error_message', as: 'text' },
  total_tokens: { key: 'jackdaw.trace.total_tokens', as: 'number' },
  total_cost_usd: { key: 'jackdaw.trace.total_cost_usd', as: 'money' },
  metadata: { key: 'jackdaw.trace.metadata', as: 'object' },
  sdk_version: { key: 'jackdaw.trace.sdk_version', as: 'text' },
  environment: { key: 'jackdaw.trace.environment', as: 'text' },
  release: { key: 'jackdaw.trace.release', as: 'text' },
  agent_version: { key: 'jackdaw.trace.agent_version', as: 'text' },
  repository: { key: 'jackdaw.trace.repository', as: 'text' },
  sample_rate: { key: 'jackdaw.trace.sample_rate', as: 'number' },
};

/** True on a placeholder span that carries the header of a trace without spans. */
export const HEADER_ONLY = 'jackdaw.header_only';
