import type { JsonObject } from './attributes.js';
import type { MapHint } from './map-hint.js';
import type { NanoUsd } from './money.js';
import type { RunContext } from './run-context.js';
import type { CallDetails } from './call-details.js';
import type { ScoreRecord } from './score.js';
import type { Micros } from './time.js';

/** The position is the stored code of each type: append only. */
export const SPAN_TYPES = ['agent', 'llm', 'tool', 'http', 'db', 'custom'] as const;
export type SpanType = (typeof SPAN_TYPES)[number];

/** For traces and spans. The position is the stored code of each status: append only. */
export const RUN_STATUSES = ['running', 'completed', 'failed', 'timed_out'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

/**
 * Whether a run is an agent's or something else that a program reports: a request to a service, a message between actors, the
 * creation of an agent. The position is the stored code of each kind: append only.
 */
export const RUN_KINDS = ['agent', 'other'] as const;
export type RunKind = (typeof RUN_KINDS)[number];

/**
 * Sources of the name of a run's agent if it is not declared, the best first: the root's own name for itself, the name of an
 * agent's or a workflow's span below it, and the agent named by a model call or a tool call. The position is the stored code of
 * each source: append only.
 */
export const AGENT_SOURCES = [
  'root',
  'agent span',
  'mention',
  /** Only in spans stored by an older version. */
  'older mention',
  'service.name',
  'root span',
] as const;
export type AgentSource = (typeof AGENT_SOURCES)[number];

/** The agent name from a span's best source. Only spans without a parent have `root` and `root span`. */
export interface AgentHint {
  readonly source: AgentSource;
  readonly name: string;
}

/** Further scores of a span are left out. */
export const MAX_SPAN_SCORES = 100;

/** One step of a run. */
export interface SpanRecord {
  /** UUID, lower case. */
  span_id: string;
  trace_id: string;
  parent_span_id: string | null;
  /** True if the sender says that the parent belongs to another process. */
  parent_is_remote: true | null;
  type: SpanType;
  name: string;
  status: RunStatus;
  started_at: Micros;
  ended_at: Micros | null;
  duration_ms: number | null;
  model: string | null;
  input_tokens: number | null;
  output_tokens: number | null;
  total_tokens: number | null;
  cost_usd: NanoUsd | null;
  error_message: string | null;
  input_data: JsonObject | null;
  output_data: JsonObject | null;
  metadata: JsonObject | null;
  /** The span's hint for its run's agent if the header follows the spans; otherwise null. */
  agent_hint: AgentHint | null;
  /** A mapping's hint for the span's node in the service map; null to derive it from type, name, input and metadata. */
  map_hint: MapHint | null;
  /**
   * The kind of the run according to the span, if the header follows the spans: `agent` for an agent, a workflow, a model call or
   * a tool call, `other` for something else, null if unknown.
   */
  run_kind: RunKind | null;
  /** The session, user and tags of its run, from the span. */
  context: RunContext | null;
  /** The prompt version that the span used, according to its sender. */
  prompt: PromptReference | null;
  /** Details of a model call in addition to tokens and cost; null without details. */
  call: CallDetails | null;
  /** Scores that came with the span, of itself or of its parent. At most {@link MAX_SPAN_SCORES}. */
  scores: readonly ScoreRecord[] | null;
}

type Nullable<Fields> = { [Field in keyof Fields]: null extends Fields[Field] ? Field : never }[keyof Fields];

/** Null for each field that a span may lack. */
export const UNSET_FIELDS: Readonly<Record<Nullable<SpanRecord>, null>> = {
  parent_span_id: null,
  parent_is_remote: null,
  ended_at: null,
  duration_ms: null,
  model: null,
  input_tokens: null,
  output_tokens: null,
  total_tokens: null,
  cost_usd: null,
  error_message: null,
  input_data: null,
  output_data: null,
  metadata: null,
  agent_hint: null,
  map_hint: null,
  run_kind: null,
  context: null,
  prompt: null,
  call: null,
  scores: null,
};

/** Turns a span that is its own parent into a root and notes it in `metadata`. */
export function rootOwnParent(span: SpanRecord): void {
  if (span.parent_span_id !== span.span_id) return;
  span.parent_span_id = null;
  span.metadata = { ...span.metadata, self_parent: true };
}

/** A prompt version named by a sender; it may not exist. */
export interface PromptReference {
  readonly name: string;
  readonly version: number;
}
