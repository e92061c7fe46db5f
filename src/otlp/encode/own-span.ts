import type { JsonObject } from '../../signal/attributes.js';
import type { SpanRecord } from '../../signal/span.js';
import type { TraceHeader } from '../../signal/trace.js';
import { HEADER_ONLY, SPAN_ATTRIBUTES, VERBATIM } from '../map/conventions/jackdaw.js';
import { microsToNanos } from './int64.js';
import { ownAttributes } from './own-attributes.js';
import { toKeyValues } from './value.js';
import { traceBytes } from '../wire/ids.js';
import type { KeyValue, Span } from '../wire/requests.js';

const STATUS_ERROR = 2;
const KIND_INTERNAL = 1;
const KIND_CLIENT = 3;

/** A span that was not received by OTLP: all fields as Jackdaw's own attributes, and GenAI attributes for other readers. */
export function encodeOwnSpan(span: SpanRecord, { agent }: TraceHeader): Span {
  const isFailed = span.status === 'failed' || span.status === 'timed_out';
  return {
    traceId: traceBytes(span.trace_id),
    spanId: ownSpanId(span.span_id),
    ...(span.parent_span_id === null ? {} : { parentSpanId: ownSpanId(span.parent_span_id) }),
    name: span.name,
    kind: span.type === 'llm' || span.type === 'http' || span.type === 'db' ? KIND_CLIENT : KIND_INTERNAL,
    startTimeUnixNano: microsToNanos(span.started_at),
    ...(span.ended_at === null ? {} : { endTimeUnixNano: microsToNanos(span.ended_at) }),
    attributes: [
      { key: VERBATIM, value: { boolValue: true } },
      ...ownAttributes(span, SPAN_ATTRIBUTES),
      ...toKeyValues(genAiAttributes(span, agent)),
    ],
    ...(isFailed ? { status: { code: STATUS_ERROR, message: span.error_message ?? '' } } : {}),
  };
}

/** A placeholder span that carries the header of a trace without spans. */
export function encodeHeaderOnly(header: TraceHeader, attributes: readonly KeyValue[]): Span {
  const start = microsToNanos(header.started_at);
  return {
    traceId: traceBytes(header.trace_id),
    spanId: ownSpanId(header.trace_id),
    name: header.agent,
    startTimeUnixNano: start,
    endTimeUnixNano: header.ended_at === null ? start : microsToNanos(header.ended_at),
    attributes: [{ key: HEADER_ONLY, value: { boolValue: true } }, ...attributes],
  };
}

function genAiAttributes(span: SpanRecord, agent: string): JsonObject {
  const attributes: JsonObject = { 'gen_ai.agent.name': agent };
  if (span.type === 'agent') attributes['gen_ai.operation.name'] = 'invoke_agent';
  if (span.type === 'llm') attributes['gen_ai.operation.name'] = 'chat';
  if (span.type === 'tool') {
    attributes['gen_ai.operation.name'] = 'execute_tool';
    attributes['gen_ai.tool.name'] = span.name;
  }
  if (span.model !== null) attributes['gen_ai.request.model'] = span.model;
  if (span.input_tokens !== null) attributes['gen_ai.usage.input_tokens'] = span.input_tokens;
  if (span.output_tokens !== null) attributes['gen_ai.usage.output_tokens'] = span.output_tokens;
  return attributes;
}

/** Eight bytes of a span's UUID that are not all zero: the last ones, as for spans received by OTLP, or else the first ones. */
function ownSpanId(uuid: string): Uint8Array {
  const bytes = traceBytes(uuid);
  const halves = [bytes.subarray(8), bytes.subarray(0, 8)];
  return halves.find((half) => half.some((byte) => byte !== 0)) ?? Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 1);
}
