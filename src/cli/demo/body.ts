import type { JsonObject } from '../../signal/attributes.js';
import type { RunStatus, SpanType } from '../../signal/span.js';

/** A span as sent to `POST /api/v1/traces/batch`. Unknown fields are omitted. */
export interface SpanBody {
  readonly span_id: string;
  readonly trace_id: string;
  readonly parent_span_id?: string;
  readonly type: SpanType;
  readonly name: string;
  readonly status: RunStatus;
  /** ISO 8601 in UTC with three fractional digits: always 24 characters. */
  readonly started_at: string;
  readonly ended_at?: string;
  readonly duration_ms?: number;
  readonly model?: string;
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  readonly total_tokens?: number;
  /** Decimal, six fractional digits. */
  readonly cost_usd?: string;
  readonly input_data?: JsonObject;
  readonly output_data?: JsonObject;
  readonly error_message?: string;
  readonly metadata?: JsonObject;
}

/** The header of a run in a request. */
export interface TraceBody {
  readonly trace_id: string;
  readonly agent: string;
  readonly status: RunStatus;
  readonly started_at: string;
  readonly ended_at?: string;
  readonly duration_ms?: number;
  readonly success?: boolean;
  readonly outcome?: string;
  readonly error_message?: string;
  readonly total_tokens?: number;
  readonly total_cost_usd?: string;
  readonly metadata?: JsonObject;
  readonly sdk_version?: string;
}

/** A run: the header and the spans sent with it. */
export interface RunBody {
  readonly trace: TraceBody;
  readonly spans: readonly SpanBody[];
}

/** The body of one request. */
export interface BatchBody {
  readonly traces: readonly RunBody[];
}

/** Maximum number of spans in one request. */
export const MAX_SPANS_PER_BATCH = 100;

/** Packs runs, in their order, into requests of at most {@link MAX_SPANS_PER_BATCH} spans. */
export function* packBatches(runs: Iterable<RunBody>): Generator<BatchBody> {
  let traces: RunBody[] = [];
  let spans = 0;
  for (const run of runs) {
    // Traces without spans are limited too.
    if (spans + run.spans.length > MAX_SPANS_PER_BATCH || traces.length === MAX_SPANS_PER_BATCH) {
      yield { traces };
      traces = [];
      spans = 0;
    }
    traces.push(run);
    spans += run.spans.length;
  }
  if (traces.length > 0) yield { traces };
}
