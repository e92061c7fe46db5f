import { printJson } from '../../signal/json.js';
import { loggedPayload } from '../../otlp/map/logged-payload.js';
import { moneyToNumber } from '../../signal/money.js';
import { formatTime } from '../../signal/time.js';
import { printRunFields, toldFields } from '../../storage/print-run.js';
import type { OutlinedSpan, StoredSpan, StoredTrace, TraceOutline } from '../../storage/runs.js';
import { printTime } from '../support/fields.js';
import { longList } from '../support/long-body.js';

/**
 * A trace as the API shows it, in pieces where it is large.
 *
 * @param print what is shown of a span
 * @throws ConsumeError what the store throws while the first part is read.
 */
export async function printTrace(
  trace: StoredTrace,
  print: (span: StoredSpan) => object = printSpan,
): Promise<Uint8Array | AsyncIterable<Uint8Array>> {
  const header = printJson({ ...printRunFields(trace), metadata: trace.metadata });
  return await longList(`${header.slice(0, -1)},"spans":[`, trace.spans, print, ']}');
}

/**
 * A trace whose spans come without their payloads.
 *
 * @throws ConsumeError what the store throws while the first part is read.
 */
export async function printOutline(trace: TraceOutline): Promise<Uint8Array | AsyncIterable<Uint8Array>> {
  const { agent_id, metadata, seq } = trace;
  const header = printJson({ ...printRunFields(trace), agent_id, metadata, seq });
  return await longList(`${header.slice(0, -1)},"spans":[`, trace.spans, printOutlinedSpan, ']}');
}

function printOutlinedSpan(span: OutlinedSpan) {
  const { node, input_bytes, output_bytes, preview } = span;
  return { ...headOf(span), node, input_bytes, output_bytes, preview };
}

export function printSpan(span: StoredSpan) {
  return { ...headOf(span), ...payloadOf(span) };
}

function headOf(span: OutlinedSpan | StoredSpan) {
  return {
    span_id: span.span_id,
    trace_id: span.trace_id,
    parent_span_id: span.parent_span_id,
    type: span.type,
    name: span.name,
    status: span.status,
    started_at: formatTime(span.started_at),
    ended_at: printTime(span.ended_at),
    duration_ms: span.duration_ms,
    model: span.model,
    input_tokens: span.input_tokens,
    output_tokens: span.output_tokens,
    total_tokens: span.total_tokens,
    cost_usd: span.cost_usd === null ? null : moneyToNumber(span.cost_usd),
    error_message: span.error_message,
    ...toldFields(span.same_as),
  };
}

/** What the span brought itself, and for what it lacks what log records say. */
function payloadOf({ type, input_data, output_data, events }: StoredSpan) {
  if (events === undefined) return { input_data, output_data };
  const { input, output } = loggedPayload(type, events);
  return { input_data: input_data ?? input, output_data: output_data ?? output };
}
