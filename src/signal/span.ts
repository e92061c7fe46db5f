import type { JsonObject } from './attributes.js';
import type { MicroUsd } from './money.js';
import type { Micros } from './time.js';

/** The order is the stored code of each type: append only. */
export const SPAN_TYPES = ['agent', 'llm', 'tool', 'http', 'db', 'custom'] as const;
export type SpanType = (typeof SPAN_TYPES)[number];

/** Of traces and spans alike. The order is the stored code of each status: append only. */
export const RUN_STATUSES = ['running', 'completed', 'failed', 'timed_out'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

/** One step of a run, in the specification's own words. */
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
  cost_usd: MicroUsd | null;
  error_message: string | null;
  input_data: JsonObject | null;
  output_data: JsonObject | null;
  metadata: JsonObject | null;
}
