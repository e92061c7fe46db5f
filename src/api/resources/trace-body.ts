import { serializeJson } from '../../signal/json.js';
import { hasFailed } from '../../storage/shared/logged-events.js';
import { loggedError, loggedPayload } from '../../otlp/map/logged-payload.js';
import { serializeRunFields } from '../../storage/shared/serialize-run.js';
import { summaryJson, serializeSpanHead } from '../../storage/shared/serialize-span.js';
import type { StoredScore, StoredSpan, StoredTrace, TraceSummary } from '../../storage/contracts/runs.js';
import { serializeScore } from '../support/scores.js';
import { longList } from '../support/long-body.js';

/**
 * Serializes a trace, in chunks if it is large.
 *
 * @param scores its scores
 * @param print serializes a span
 * @throws ConsumeError if the store fails while the first part is read.
 */
export async function serializeTrace(
  trace: StoredTrace,
  scores: readonly StoredScore[],
  print: (span: StoredSpan) => object = serializeSpan,
): Promise<Uint8Array | AsyncIterable<Uint8Array>> {
  const header = serializeJson({
    ...serializeRunFields(trace),
    metadata: trace.metadata,
    scores: scores.map(serializeScore),
  });
  return await longList(`${header.slice(0, -1)},"spans":[`, trace.spans, print, ']}');
}

/**
 * Serializes a trace without span payloads.
 *
 * @param scores its scores; null leaves them out
 * @throws ConsumeError if the store fails while the first part is read.
 */
export async function serializeSummary(
  trace: TraceSummary,
  scores: readonly StoredScore[] | null,
): Promise<Uint8Array | AsyncIterable<Uint8Array>> {
  const { agent_id, metadata, seq } = trace;
  const header = serializeJson({
    ...serializeRunFields(trace),
    agent_id,
    metadata,
    seq,
    ...(scores && { scores: scores.map(serializeScore) }),
  });
  return await longList(`${header.slice(0, -1)},"spans":[`, trace.spans, summaryJson, ']}');
}

export function serializeSpan(span: StoredSpan) {
  return { ...serializeSpanHead({ ...span, error_message: errorOf(span) }), ...payloadOf(span) };
}

function errorOf({ status, error_message: own, events }: StoredSpan): string | null {
  return events === undefined || !hasFailed(status) ? own : loggedError(own, events);
}

/** The span's own payload; missing parts come from log records. */
function payloadOf({ type, input_data, output_data, events }: StoredSpan) {
  if (events === undefined) return { input_data, output_data };
  const { input, output } = loggedPayload(type, events);
  return { input_data: input_data ?? input, output_data: output_data ?? output };
}
