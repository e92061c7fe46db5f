import { toKeyValues } from '../../src/otlp/encode/value.js';
import { spansToTraces } from '../../src/otlp/map/spans-to-traces.js';
import type { Mapped, Span, TracesRequest } from '../../src/otlp/wire/requests.js';
import type { JsonObject } from '../../src/signal/attributes.js';
import type { TracesBatch } from '../../src/signal/batch.js';
import type { SpanRecord } from '../../src/signal/span.js';
import { aSpan, tracesOf } from './otlp-requests.js';

export const PARENT = Buffer.alloc(8, 99);
/** The ids of span 1, below {@link PARENT}, in trace 1. */
export const TRACE_ID = '01010101-0101-0101-0101-010101010101';
export const SPAN_ID = '01010101-0101-0101-0101-010101010101';

export function mapSpans(request: TracesRequest): Mapped<TracesBatch> {
  return spansToTraces(request, { tenant: 'a user', idleTimeoutMs: 3_600_000 });
}

/** The record of one span with these attributes. It is not a root unless `changes` make it one. */
export function mapSpan(attributes: JsonObject, changes: Partial<Span> = {}): SpanRecord {
  const span = aSpan(1, { parentSpanId: PARENT, attributes: toKeyValues(attributes), ...changes });
  const { batch, rejected } = mapSpans(tracesOf(span));
  const record = batch.items[0]?.spans[0];
  if (!record) throw new Error(`not taken: ${rejected.join(', ')}`);
  return record;
}

/** A change that makes a span a root. */
export const ROOT: Partial<Span> = { parentSpanId: null };
