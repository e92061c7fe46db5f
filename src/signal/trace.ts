import type { JsonObject } from './attributes.js';
import type { NanoUsd } from './money.js';
import type { RunKind, RunStatus, SpanRecord } from './span.js';
import type { Micros } from './time.js';

/** The header of one agent run. */
export interface TraceHeader {
  /** UUID, lower case. */
  trace_id: string;
  agent: string;
  /** `agent` for every declared header. */
  kind: RunKind;
  status: RunStatus;
  started_at: Micros;
  ended_at: Micros | null;
  duration_ms: number | null;
  success: boolean | null;
  outcome: string | null;
  error_message: string | null;
  total_tokens: number | null;
  total_cost_usd: NanoUsd | null;
  metadata: JsonObject | null;
  sdk_version: string | null;
  /** The environment of the deployment, such as `production`. Of a header that follows its spans: from those sent with it; so are the next two. */
  environment: string | null;
  /** The deployed version of the program. */
  release: string | null;
  agent_version: string | null;
  repository: string | null;
  /**
   * The share of similar runs that sampling kept, above 0; 1 for a run kept for its own properties. The run stands for `1 /
   * sample_rate` runs. Null: no known sampling.
   */
  sample_rate: number | null;
  /**
   * Whether the header is undeclared: agent, status, times, error and totals are derived from all stored spans of the run ({@link
   * headerOf}), independent of their order.
   */
  follows_spans: boolean;
  /** Milliseconds without new spans after which such a run, if still running, counts as timed out; null: never. */
  idle_timeout_ms: number | null;
  /**
   * Milliseconds without new spans after which such a run, if all its spans have ended, completes without the parent of its topmost
   * spans; null: after its idle timeout.
   */
  orphan_wait_ms: number | null;
}

/** A run as emitted by a receiver: the header, and the spans received with it. */
export interface TraceRecord {
  readonly trace: TraceHeader;
  readonly spans: SpanRecord[];
}
