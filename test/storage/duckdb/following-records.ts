import { headerOf, topmost } from '../../../src/runs/rules/header-of-spans.js';
import type { SpanRecord } from '../../../src/signal/span.js';
import type { TraceHeader, TraceRecord } from '../../../src/signal/trace.js';
import { aHeader, aSpanRecord, NOON } from '../../support/run-records.js';

/** A record of an undeclared run with the header derived from these spans. @param spans at least one */
export function aFollowingRecord(
  spans: readonly SpanRecord[],
  changes: Partial<TraceHeader> = {},
): TraceRecord {
  const top = topmost(spans);
  const trace = aHeader({
    trace_id: top?.trace_id ?? '',
    ...headerOf(spans),
    metadata: { top: top?.span_id ?? '' },
    follows_spans: true,
    ...changes,
  });
  return { trace, spans: [...spans] };
}

/** A span of a run without a root. */
function aPart(traceId: string, n: number, changes: Partial<SpanRecord> = {}): SpanRecord {
  return aSpanRecord(traceId, {
    span_id: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
    parent_span_id: 'ffffffff-0000-4000-8000-000000000000',
    started_at: NOON + n,
    ended_at: NOON + n + 5,
    type: 'custom',
    total_tokens: 1,
    cost_usd: 1_000_000,
    ...changes,
  });
}

/** Some spans of such a run, by number. */
export function parts(
  traceId: string,
  from: number,
  to: number,
  changes: Partial<SpanRecord> = {},
): TraceRecord {
  const spans = Array.from({ length: to - from }, (_, i) => aPart(traceId, from + i, changes));
  return aFollowingRecord(spans, { idle_timeout_ms: 60_000, metadata: { 'session.id': 's' } });
}
