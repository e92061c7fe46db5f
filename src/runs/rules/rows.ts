import { RUN_STATUSES, type SpanRecord } from '../../signal/span.js';
import type { TraceHeader } from '../../signal/trace.js';

/**
 * A run's header as a store keeps it: codes in place of words, JSON as text, and the bits of {@link DERIVED} for undeclared values, with
 * {@link AWAITS_ROOT}. The agent's name is stored separately.
 */
export interface HeaderRow extends Omit<
  TraceHeader,
  'agent' | 'kind' | 'status' | 'metadata' | 'follows_spans'
> {
  /** A position in `RUN_KINDS`. */
  kind: number;
  /** A position in `RUN_STATUSES`. */
  status: number;
  metadata: string | null;
  session_id: string | null;
  user_id: string | null;
  /** A line for each (`serializeTags`). */
  tags: string | null;
  derived: number;
}

/** A span as a store keeps it, without its payload. */
export interface SpanRow extends Omit<
  SpanRecord,
  | 'type'
  | 'status'
  | 'input_data'
  | 'output_data'
  | 'metadata'
  | 'agent_hint'
  | 'run_kind'
  | 'context'
  | 'prompt'
  | 'call'
  | 'scores'
  | 'parent_is_remote'
> {
  /** A position in `SPAN_TYPES`. */
  type: number;
  /** A position in `RUN_STATUSES`. */
  status: number;
  /** A position in `AGENT_SOURCES`; null where the span does not name its run's agent. */
  agent_source: number | null;
  agent_name: string | null;
  /** A position in `RUN_KINDS`; null where the span says nothing of its run's kind. */
  run_kind: number | null;
  /** As `serializeContext` gives it. */
  context: string | null;
  /** As `serializeCall` writes them. */
  call_details: string | null;
  /** As `callKey` writes it; null where the span is no model call, or says too little of it. */
  call_key: string | null;
  /** The span by which its call is counted, where that is another one: `duplicate-calls.ts`. */
  same_as: string | null;
  /** The counted parts of a model call, in bits of `COUNTS`; null for all parts. */
  counted: number | null;
  /** Counted tokens and cost, if they differ from what `counted` implies: `SpanCounts` in `usage.ts`. */
  counted_tokens: number | null;
  counted_cost: number | null;
  /** Bits of {@link DERIVED}, and {@link REMOTE_PARENT}. */
  derived: number;
}

/** The fields of a stored span on which its run's header and the service map depend: `SpanFacts`. */
export const FACT_FIELDS = [
  'span_id',
  'parent_span_id',
  'type',
  'status',
  'started_at',
  'ended_at',
  'error_message',
  'agent_source',
  'agent_name',
  'run_kind',
  'context',
  'total_tokens',
  'cost_usd',
  'call_key',
  'same_as',
  'counted',
  'counted_tokens',
  'counted_cost',
  'derived',
] as const;

/** The fields of a stored span that are needed to complete it and derive the run. */
export type FactRow = Pick<
  SpanRow,
  (typeof FACT_FIELDS)[number] | 'duration_ms' | 'input_tokens' | 'output_tokens' | 'call_details'
>;

/** The codes of these statuses. */
export const RUNNING = RUN_STATUSES.indexOf('running');
export const FAILED = RUN_STATUSES.indexOf('failed');
export const TIMED_OUT = RUN_STATUSES.indexOf('timed_out');
