import type { Batches, Signal } from '../../signal/batch.js';
import { formatTime } from '../../signal/time.js';

type Item<S extends Signal> = Batches[S]['items'][number];

/** Identifies an item without user content: no attributes, bodies, inputs, outputs or error messages. */
const SUMMARIES: { readonly [S in Signal]: (item: Item<S>) => object } = {
  traces: ({ trace, spans }) => ({
    trace_id: trace.trace_id,
    agent: trace.agent,
    status: trace.status,
    started_at: formatTime(trace.started_at),
    duration_ms: trace.duration_ms,
    spans: spans.length,
    span_types: countsOf(spans.map(({ type }) => type)),
  }),
  metrics: ({ stream, timestamp, value }) => ({
    name: stream.name,
    type: stream.type,
    unit: stream.unit,
    service: stream.origin.serviceName,
    timestamp: formatTime(timestamp),
    value,
  }),
  logs: ({ timestamp, severity, origin, trace_id, span_id, event_name }) => ({
    timestamp: formatTime(timestamp),
    severity,
    service: origin.serviceName,
    trace_id,
    span_id,
    event_name,
  }),
  events: ({ id, type, timestamp }) => ({ id, type, timestamp: formatTime(timestamp) }),
};

export function summarize<S extends Signal>(signal: S, item: Item<S>): object {
  return SUMMARIES[signal](item);
}

function countsOf(words: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}
