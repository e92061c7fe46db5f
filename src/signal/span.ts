import type { JsonObject } from './attributes.js';
import type { MapHint } from './map-hint.js';
import type { NanoUsd } from './money.js';
import type { RunContext } from './run-context.js';
import type { CallDetails } from './call-details.js';
import type { Micros } from './time.js';

/** The position is the stored code of each type: append only. */
export const SPAN_TYPES = ['agent', 'llm', 'tool', 'http', 'db', 'custom'] as const;
export type SpanType = (typeof SPAN_TYPES)[number];

/** For traces and spans alike. The position is the stored code of each status: append only. */
export const RUN_STATUSES = ['running', 'completed', 'failed', 'timed_out'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

/**
 * Whether a run is an agent's, or something else that a program reports: a request to a service, a message between actors, an
 * agent that is made. The position is the stored code of each kind: append only.
 */
export const RUN_KINDS = ['agent', 'other'] as const;
export type RunKind = (typeof RUN_KINDS)[number];

/**
 * Where the name of a run's agent comes from when nobody declares it, the best source first: what the root calls itself, what
 * an agent's or a workflow's span below it calls itself, and what a model call or a tool says of the agent it works for. The
 * position is the stored code of each source: append only.
 */
export const AGENT_SOURCES = [
  'root',
  'agent span',
  'mention',
  /** Only of spans that an older version stored. */
  'older mention',
  'service.name',
  'root span',
] as const;
export type AgentSource = (typeof AGENT_SOURCES)[number];

/** The name from a span's best source. Only spans without a parent have `root` and `root span`. */
export interface AgentHint {
  readonly source: AgentSource;
  readonly name: string;
}

/** One step of a run. */
export interface SpanRecord {
  /** UUID, lower case. */
  span_id: string;
  trace_id: string;
  parent_span_id: string | null;
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
   * What the span says of its run's kind, where the header follows from the spans: `agent` where an agent, a workflow, a model or
   * a tool is at work, `other` where something else is, null where it says nothing.
   */
  run_kind: RunKind | null;
  /** The session, user and tags of its run, from the span. */
  context: RunContext | null;
  /** The prompt version that the span says it used. */
  prompt: PromptReference | null;
  /** Details of a model call in addition to tokens and cost; null without details. */
  call: CallDetails | null;
}

/** A prompt version as senders name it; the user may not have it. */
export interface PromptReference {
  readonly name: string;
  readonly version: number;
}
