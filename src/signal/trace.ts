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
  /**
   * The share of runs like it that sampling kept, above 0: 1 where it was kept for what it is. Null: no sampling is known of. So it
   * stands for `1 / sample_rate` runs.
   */
  sample_rate: number | null;
  /**
   * Whether the header is undeclared: agent, status, times, error and totals are derived from all stored spans of the run ({@link
   * headerOf}), independent of their order.
   */
  follows_spans: boolean;
  /** Idle time in milliseconds after which a running run counts as timed out; null: never. */
  idle_timeout_ms: number | null;
}

/** A run as a receiver passes it on: the header, and the spans that came with it. */
export interface TraceRecord {
  readonly trace: TraceHeader;
  readonly spans: SpanRecord[];
}
