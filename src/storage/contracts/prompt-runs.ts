import type { Usd } from '../../signal/money.js';
import type { Micros } from '../../signal/time.js';

/** That a trace, or one span of it, used a prompt version. */
export interface PromptLink {
  readonly prompt_name: string;
  readonly prompt_version: number;
  /** UUID */
  readonly trace_id: string;
  /** UUID; null for the trace as a whole. */
  readonly span_id: string | null;
}

/** The figures of a prompt version over the stored traces that used it, each counted once. */
export interface PromptVersionFigures {
  readonly version: number;
  readonly total_traces: number;
  readonly success_count: number;
  readonly failure_count: number;
  /** Over the traces that have a cost; not rounded. */
  readonly avg_cost: Usd | null;
  readonly avg_latency_ms: number | null;
  readonly p95_latency_ms: number | null;
}

/**
 * How the runs went that used users' prompts: the prompts themselves are in the control plane. Figures are exact, percentiles too, over the
 * newest headers; in an engine of several machines they may lag behind the writes by some seconds. Every method may throw a `ConsumeError`
 * with `storage_unavailable` or `overloaded` (retryable; nothing was changed).
 */
export interface PromptRuns {
  /**
   * Notes that a trace, which may come later, used a prompt version; the same again changes nothing. Durable when it resolves.
   *
   * @param now when it was made
   * @returns false, and nothing is noted, where the user has no such prompt version
   */
  link(userId: string, link: PromptLink, now: Micros): Promise<boolean>;
  /** The versions of a prompt, the newest first. @returns null where the user has no prompt of that name */
  compare(userId: string, name: string, abort?: AbortSignal): Promise<readonly PromptVersionFigures[] | null>;
}
