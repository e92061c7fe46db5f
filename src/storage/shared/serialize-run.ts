import { moneyToNumber } from '../../signal/money.js';
import type { RunKind, RunStatus } from '../../signal/span.js';
import { formatTime } from '../../signal/time.js';
import type { RunSummary } from '../contracts/runs.js';

/** A run as returned by the API and in events. */
export interface SerializedRun {
  readonly trace_id: string;
  readonly agent_name: string;
  readonly kind: RunKind;
  readonly session_id: string | null;
  readonly user_id: string | null;
  readonly tags: readonly string[];
  readonly environment: string | null;
  readonly release: string | null;
  readonly agent_version: string | null;
  readonly repository: string | null;
  readonly status: RunStatus;
  readonly started_at: string;
  readonly ended_at: string | null;
  readonly duration_ms: number | null;
  readonly success: boolean | null;
  readonly outcome: string | null;
  readonly error_message: string | null;
  readonly total_tokens: number | null;
  /** US dollars. */
  readonly total_cost_usd: number | null;
  /** The fraction of similar runs kept by sampling; null: unknown. */
  readonly sample_rate: number | null;
}

export function serializeRunFields(run: RunSummary): SerializedRun {
  return {
    trace_id: run.trace_id,
    agent_name: run.agent_name,
    kind: run.kind,
    session_id: run.session_id,
    user_id: run.user_id,
    tags: run.tags,
    environment: run.environment,
    release: run.release,
    agent_version: run.agent_version,
    repository: run.repository,
    status: run.status,
    started_at: formatTime(run.started_at),
    ended_at: run.ended_at === null ? null : formatTime(run.ended_at),
    duration_ms: run.duration_ms,
    success: run.success,
    outcome: run.outcome,
    error_message: run.error_message,
    total_tokens: run.total_tokens,
    total_cost_usd: run.total_cost_usd === null ? null : moneyToNumber(run.total_cost_usd),
    sample_rate: run.sample_rate,
  };
}

export function serializeRun(run: RunSummary): SerializedRun & { readonly span_count: number } {
  return { ...serializeRunFields(run), span_count: run.span_count };
}

/** The fields for a span that duplicates a call counted on another span; otherwise none. @param sameAs the other span's id */
export function duplicateFields(sameAs: unknown): { readonly counted?: false; readonly same_as?: string } {
  return typeof sameAs === 'string' ? { counted: false, same_as: sameAs } : {};
}
