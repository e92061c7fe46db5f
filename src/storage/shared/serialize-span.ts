import { moneyToNumber } from '../../signal/money.js';
import { formatTime, type Micros } from '../../signal/time.js';
import { duplicateFields } from './serialize-run.js';
import type { SpanSummary, StoredSpan } from '../contracts/runs.js';

/** The fields of a span in the API, without its payload. */
export type SpanHead = Omit<StoredSpan, 'input_data' | 'output_data' | 'events' | 'details'>;

type HeadField = Exclude<keyof SpanHead, 'same_as'>;

/** The API representation. */
export function serializeSpanHead(span: SpanHead) {
  return {
    span_id: span.span_id,
    trace_id: span.trace_id,
    parent_span_id: span.parent_span_id,
    type: span.type,
    name: span.name,
    status: span.status,
    started_at: formatTime(span.started_at),
    ended_at: span.ended_at === null ? null : formatTime(span.ended_at),
    duration_ms: span.duration_ms,
    model: span.model,
    input_tokens: span.input_tokens,
    output_tokens: span.output_tokens,
    total_tokens: span.total_tokens,
    cost_usd: span.cost_usd === null ? null : moneyToNumber(span.cost_usd),
    error_message: span.error_message,
    ...duplicateFields(span.same_as),
  };
}

/** The same as JSON, with the fields of summaries. */
export function summaryJson(span: SpanSummary): string {
  const { node, input_bytes, output_bytes, preview } = span;
  return `${headJson(span)},"node":${text(node)},"input_bytes":${number(input_bytes)},"output_bytes":${number(output_bytes)},"preview":${text(preview)}}`;
}

/** The same as JSON, with its payload. @param input as JSON @param output as JSON */
export function shownJson(span: SpanHead, input: string, output: string): string {
  return `${headJson(span)},"input_data":${input},"output_data":${output}}`;
}

/**
 * The fields of {@link serializeSpanHead} as JSON, in the same order. Written by hand: runs have ten thousand spans, and
 * `JSON.stringify` takes three to four times as long.
 */
const HEAD_JSON: Readonly<Record<HeadField, (span: SpanHead) => string>> = {
  span_id: (span) => plain(span.span_id),
  trace_id: (span) => plain(span.trace_id),
  parent_span_id: (span) => plain(span.parent_span_id),
  type: (span) => plain(span.type),
  name: (span) => text(span.name),
  status: (span) => plain(span.status),
  started_at: (span) => time(span.started_at),
  ended_at: (span) => time(span.ended_at),
  duration_ms: (span) => number(span.duration_ms),
  model: (span) => text(span.model),
  input_tokens: (span) => number(span.input_tokens),
  output_tokens: (span) => number(span.output_tokens),
  total_tokens: (span) => number(span.total_tokens),
  cost_usd: (span) => number(span.cost_usd === null ? null : moneyToNumber(span.cost_usd)),
  error_message: (span) => text(span.error_message),
};
const HEAD_FIELDS = Object.entries(HEAD_JSON).map(([name, json]) => ({ key: `"${name}":`, json }));

/** Without the closing brace. */
function headJson(span: SpanHead): string {
  let json = '{';
  for (const field of HEAD_FIELDS) json += (json === '{' ? '' : ',') + field.key + field.json(span);
  return span.same_as === undefined ? json : `${json},"counted":false,"same_as":"${span.same_as}"`;
}

function text(value: string | null): string {
  return value === null ? 'null' : JSON.stringify(value);
}

/** Quotes a value that needs no escaping. */
function plain(value: string | null): string {
  return value === null ? 'null' : `"${value}"`;
}

function number(value: number | null): string {
  return String(value);
}

function time(value: Micros | null): string {
  return plain(value === null ? null : formatTime(value));
}
