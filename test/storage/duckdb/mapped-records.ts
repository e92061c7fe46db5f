import type { SpanRecord } from '../../../src/signal/span.js';
import type { TraceHeader, TraceRecord } from '../../../src/signal/trace.js';
import { aHeader, aSpanRecord } from '../../support/run-records.js';
import { aFollowingRecord } from './following-records.js';

/** A run of `planner` that calls a service once and itself once through a tool. @param of additional header fields */
export function aCall(service: string, started_at: number, of: Partial<TraceHeader> = {}): TraceRecord {
  const trace = aHeader({ agent: 'planner', started_at, ...of });
  const agent = aSpanRecord(trace.trace_id, { type: 'agent', started_at });
  const parent_span_id = agent.span_id;
  const call = aSpanRecord(trace.trace_id, {
    ...{ type: 'http', started_at, parent_span_id },
    metadata: { 'peer.service': service },
  });
  return {
    trace,
    spans: [agent, call, aSpanRecord(trace.trace_id, { type: 'tool', started_at, parent_span_id })],
  };
}

const PEERS = ['billing', 'search.example', 'planner', 'Größe', '🪶'];

/**
 * A record in which some spans name their callee and some runs are undeclared.
 *
 * @param choose returns a digit
 */
export function varied(item: TraceRecord, choose: () => number): TraceRecord {
  const spans = item.spans.map((span): SpanRecord => {
    const peer = PEERS[choose()];
    if (span.type === 'agent') {
      return choose() < 5 ? span : { ...span, metadata: { ...span.metadata, 'agent.name': peer ?? '' } };
    }
    return peer === undefined ? span : { ...span, metadata: { ...span.metadata, 'peer.service': peer } };
  });
  if (spans.length === 0 || choose() < 6) return { ...item, spans };
  const withHint = spans.map((span): SpanRecord => ({
    ...span,
    agent_hint: { source: 'service.name', name: PEERS[choose()] ?? 'service' },
  }));
  return aFollowingRecord(withHint);
}
