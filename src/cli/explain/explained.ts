import type { serializeUsage } from '../../api/resources/span-usage.js';
import type { JsonObject, JsonValue } from '../../signal/attributes.js';
import type { ScoreRecord } from '../../signal/score.js';
import type { AgentHint, RunKind, RunStatus, SpanType } from '../../signal/span.js';
import type { Grounds } from '../../otlp/map/grounds.js';
import type { RunMap } from './stored-runs.js';

/** How Jackdaw would show a run, and why. Fields have the names of the API; this is what `--json` prints. */
export interface ExplainedRun {
  readonly trace_id: string;
  readonly agent_name: string;
  readonly kind: RunKind;
  readonly status: RunStatus;
  readonly error_message: string | null;
  readonly started_at: string;
  readonly ended_at: string | null;
  readonly duration_ms: number | null;
  readonly success: boolean | null;
  readonly outcome: string | null;
  readonly total_tokens: number | null;
  /** US dollars. */
  readonly total_cost_usd: number | null;
  readonly session_id: JsonValue;
  readonly user_id: JsonValue;
  readonly tags: string[];
  readonly environment: string | null;
  readonly release: string | null;
  readonly agent_version: string | null;
  readonly repository: string | null;
  readonly span_count: number;
  /** Number of log records that belong to the run. */
  readonly log_count: number;
  readonly service_map: RunMap;
  /** The sources of the values above, by name. */
  readonly from: Readonly<Record<string, RunGround>>;
  /** Each span before its children. */
  readonly spans: readonly ExplainedSpan[];
}

/** The source of a run's value: one of its spans, or a declared header. */
export interface RunGround {
  readonly span_id: string | null;
  readonly source: string;
}

export type ExplainedScore = Pick<ScoreRecord, 'name' | 'value' | 'label' | 'comment' | 'error_type'>;

export interface ExplainedSpan {
  readonly span_id: string;
  readonly parent_span_id: string | null;
  /** Number of ancestors. */
  readonly depth: number;
  readonly type: SpanType;
  readonly name: string;
  readonly status: RunStatus;
  readonly error_message: string | null;
  readonly started_at: string;
  readonly ended_at: string | null;
  readonly duration_ms: number | null;
  readonly model: string | null;
  readonly provider: JsonValue;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly total_tokens: number | null;
  /** Tokens and cost by part. */
  readonly usage: ReturnType<typeof serializeUsage>['usage'];
  readonly time_to_first_chunk_ms: number | null;
  readonly cost: ReturnType<typeof serializeUsage>['cost'];
  /** US dollars. */
  readonly cost_usd: number | null;
  /** Only for a call that is counted on another span, which `same_as` names. */
  readonly counted?: false;
  readonly same_as?: string;
  readonly session_id: JsonValue;
  readonly user_id: JsonValue;
  readonly tags: JsonValue;
  readonly environment: string | null;
  readonly release: string | null;
  readonly agent_version: string | null;
  readonly repository: string | null;
  readonly input_data: JsonObject | null;
  readonly output_data: JsonObject | null;
  /** Scores in its events and attributes, and in log records with its ids. */
  readonly scores: readonly ExplainedScore[];
  /** The agent name that the span suggests for its run. */
  readonly agent_hint: AgentHint | null;
  /** The kind that the span suggests for its run. */
  readonly run_kind: RunKind | null;
  /** The sources of the values above, by name: an attribute key, or the description of a rule. */
  readonly from: Grounds;
  /** Attribute keys that no convention reads. They remain in the span's metadata. */
  readonly unread: readonly string[];
}
