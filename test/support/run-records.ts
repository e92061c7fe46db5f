import { NO_DIMENSIONS } from '../../src/signal/run-context.js';
import { randomUUID } from 'node:crypto';
import { UNSET_FIELDS, type SpanRecord } from '../../src/signal/span.js';
import type { TraceHeader, TraceRecord } from '../../src/signal/trace.js';

/** 2026-01-15T12:00:00Z, the time of the test clock. */
export const NOON = Date.UTC(2026, 0, 15, 12) * 1000;
export const DAY = 86_400_000_000;

/** A completed header without optional fields. */
export function aHeader(changes: Partial<TraceHeader> = {}): TraceHeader {
  return {
    trace_id: randomUUID(),
    agent: 'researcher',
    status: 'completed',
    started_at: NOON,
    ended_at: null,
    duration_ms: null,
    success: null,
    outcome: null,
    error_message: null,
    total_tokens: null,
    total_cost_usd: null,
    metadata: null,
    sdk_version: null,
    ...NO_DIMENSIONS,
    sample_rate: null,
    kind: 'agent',
    follows_spans: false,
    idle_timeout_ms: null,
    orphan_wait_ms: null,
    ...changes,
  };
}

/** A completed span without optional fields. */
export function aSpanRecord(traceId: string, changes: Partial<SpanRecord> = {}): SpanRecord {
  return {
    ...UNSET_FIELDS,
    span_id: randomUUID(),
    trace_id: traceId,
    type: 'llm',
    name: 'answer',
    status: 'completed',
    started_at: NOON,
    ...changes,
  };
}

/** A trace with `spans` spans. */
export function aTrace(spans: number, changes: Partial<TraceHeader> = {}): TraceRecord {
  const trace = aHeader(changes);
  return { trace, spans: Array.from({ length: spans }, () => aSpanRecord(trace.trace_id)) };
}
