import type { SpanRecord } from '../../../src/signal/span.js';
import type { TraceRecord } from '../../../src/signal/trace.js';
import { aFollowingRecord } from './following-records.js';

const PEERS = ['billing', 'search.example', 'planner', 'Größe', '🪶'];

/**
 * A record of which some spans say whom they call, and some runs are declared by nobody.
 *
 * @param choose gives a digit
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
  const hinted = spans.map((span): SpanRecord => ({
    ...span,
    agent_hint: { source: 'service.name', name: PEERS[choose()] ?? 'service' },
  }));
  return aFollowingRecord(hinted);
}
