import { approximateBytes } from '../../delivery/queue/memory-size.js';
import { loggedError, loggedPayload } from '../../otlp/map/logged-payload.js';
import { deriveMetadata } from '../../otlp/map/span-metadata.js';
import { carry } from '../../signal/sent-span.js';
import { UNSET_FIELDS, type SpanRecord } from '../../signal/span.js';
import type { TraceHeader, TraceRecord } from '../../signal/trace.js';
import type { DetailedSpan, Runs, StoredSpan, StoredTrace } from '../../storage/contracts/runs.js';
import { hasFailed } from '../../storage/shared/logged-events.js';

/** Larger runs are not evaluated. */
const MAX_SPANS = 10_000;
const MAX_BYTES = 32 * 1024 * 1024;

/**
 * Reads a run with the payloads of its spans, as it would come in one batch.
 *
 * @returns null for an unknown trace
 */
export async function readRun(
  runs: Pick<Runs, 'read'>,
  userId: string,
  traceId: string,
  abort: AbortSignal,
): Promise<TraceRecord | 'too_large' | null> {
  const stored = await runs.read(userId, traceId, { details: true }, abort);
  if (stored === null) return null;
  if (stored.span_count > MAX_SPANS) return 'too_large';
  const spans: SpanRecord[] = [];
  let bytes = 0;
  for await (const page of stored.spans) {
    if (page instanceof Uint8Array) throw new TypeError('spans with details come as rows');
    for (const span of page as readonly DetailedSpan[]) {
      spans.push(spanOf(span));
      bytes += approximateBytes(span);
    }
    if (bytes > MAX_BYTES || spans.length > MAX_SPANS) return 'too_large';
  }
  return { trace: headerOf(stored), spans };
}

/** Expressions read session, user and tags from `metadata`. */
function headerOf(stored: StoredTrace): TraceHeader {
  const { agent_name, session_id, user_id, tags, metadata } = stored;
  const context = {
    ...(session_id !== null && { session_id }),
    ...(user_id !== null && { user_id }),
    ...(tags.length > 0 && { tags: [...tags] }),
  };
  return {
    trace_id: stored.trace_id,
    agent: agent_name,
    kind: stored.kind,
    status: stored.status,
    started_at: stored.started_at,
    ended_at: stored.ended_at,
    duration_ms: stored.duration_ms,
    success: stored.success,
    outcome: stored.outcome,
    error_message: stored.error_message,
    total_tokens: stored.total_tokens,
    total_cost_usd: stored.total_cost_usd,
    metadata: { ...metadata, ...context },
    sdk_version: null,
    environment: stored.environment,
    release: stored.release,
    agent_version: stored.agent_version,
    repository: stored.repository,
    sample_rate: stored.sample_rate,
    follows_spans: false,
    idle_timeout_ms: null,
    orphan_wait_ms: null,
  };
}

function spanOf({ events, details, ...stored }: DetailedSpan): SpanRecord {
  const { call, metadata, sent } = details;
  const fields: SpanRecord = {
    ...UNSET_FIELDS,
    ...stored,
    ...(events !== undefined && withEvents({ ...stored, events })),
    call: call === null ? null : { provider: null, ...call },
    metadata,
  };
  if (sent === null) return fields;
  const { bytes, origin } = sent;
  const notes = metadata ?? {};
  return carry({ ...fields }, { bytes, origin: { bytes: origin }, notes, mapped: fields }, deriveMetadata);
}

/** What log records say in addition to the span. */
function withEvents({ type, status, events = [], ...span }: StoredSpan): Partial<SpanRecord> {
  const { input, output } = loggedPayload(type, events);
  return {
    input_data: span.input_data ?? input,
    output_data: span.output_data ?? output,
    error_message: hasFailed(status) ? loggedError(span.error_message, events) : span.error_message,
  };
}
