import type { serializeUsage } from '../../api/resources/span-usage.js';
import type { JsonObject, JsonValue } from '../../signal/attributes.js';
import type { AgentHint, RunKind, RunStatus, SpanType } from '../../signal/span.js';
import type { Grounds } from './grounds.js';
import type { RunMap } from './stored-runs.js';

/** A run as Jackdaw would show it, and why. Fields have the names of the API; this is what `--json` prints. */
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
  readonly span_count: number;
  /** Records of logs that belong to it. */
  readonly log_count: number;
  readonly service_map: RunMap;
  /** What gave the values above, by their names. */
  readonly from: Readonly<Record<string, RunGround>>;
  /** Each before those below it. */
  readonly spans: readonly ExplainedSpan[];
}

/** A value of a run follows from one of its spans, or from somebody who declared it. */
export interface RunGround {
  readonly span_id: string | null;
  readonly source: string;
}

export interface ExplainedSpan {
  readonly span_id: string;
  readonly parent_span_id: string | null;
  /** How many spans are above it. */
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
  /** The tokens and the cost by their parts. */
  readonly usage: ReturnType<typeof serializeUsage>['usage'];
  readonly cost: ReturnType<typeof serializeUsage>['cost'];
  /** US dollars. */
  readonly cost_usd: number | null;
  /** Only of a call that is counted by another span, which `same_as` names. */
  readonly counted?: false;
  readonly same_as?: string;
  readonly session_id: JsonValue;
  readonly user_id: JsonValue;
  readonly tags: JsonValue;
  readonly input_data: JsonObject | null;
  readonly output_data: JsonObject | null;
  /** What it says of its run's agent. */
  readonly agent_hint: AgentHint | null;
  /** And of its kind. */
  readonly run_kind: RunKind | null;
  /** What gave the values above, by their names: the key of an attribute, or a rule in words. */
  readonly from: Grounds;
  /** Keys of attributes from which nothing was taken. They are kept in the span's metadata like all others. */
  readonly unread: readonly string[];
}
