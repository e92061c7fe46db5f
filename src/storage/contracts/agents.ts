import type { Usd } from '../../signal/money.js';
import type { Micros } from '../../signal/time.js';
import type { Page, PageRange } from './paging.js';

/** How runs went by their status, whatever their success signals say. */
export interface RunOutcomes {
  /** Runs with status `failed` or `timed_out`. */
  readonly failed_runs: number;
  /** Runs whose status is any but `running`. */
  readonly finished_runs: number;
}

export interface AgentSummary extends RunOutcomes {
  readonly id: string;
  readonly name: string;
  readonly total_runs: number;
  readonly success_count: number;
  readonly failure_count: number;
  readonly total_cost: Usd | null;
  readonly avg_cost_per_run: Usd | null;
  readonly last_run_at: Micros | null;
  readonly created_at: Micros;
}

/** What lists of agents can be ordered by; with `-` descending. */
export const AGENT_SORTS = [
  '-last_run_at',
  'last_run_at',
  'name',
  '-name',
  '-total_runs',
  'total_runs',
  '-total_cost',
  'total_cost',
  '-avg_cost_per_run',
  'avg_cost_per_run',
  '-created_at',
  'created_at',
] as const;

export type AgentSort = (typeof AGENT_SORTS)[number];

/** Which agents a page shows, and in which order. Absent: all, by `-last_run_at`. */
export interface AgentFilter {
  /** Case-insensitive substring of the name. */
  readonly query?: string;
  readonly sort?: AgentSort;
}

/**
 * What figures are where each run stands for as many as sampling kept one of (`1 / sample_rate`): estimates of what they would be without
 * sampling, and the figures themselves where nothing was sampled.
 */
export interface EstimatedRuns extends RunOutcomes {
  /** The stored runs on which the estimate rests. */
  readonly counted_runs: number;
  /** Those of them that stand for more than themselves. */
  readonly sampled_runs: number;
  readonly total_runs: number;
  readonly success_count: number;
  readonly failure_count: number;
  readonly total_cost: Usd;
  readonly total_tokens: number;
  readonly avg_latency_ms: number | null;
}

/** Moments, both included. */
export interface TimeRange {
  readonly from: Micros;
  readonly to: Micros;
}

/** One UTC day of an agent; only days with runs are returned. */
export interface AgentDay extends RunOutcomes {
  /** `YYYY-MM-DD` */
  readonly date: string;
  readonly total_runs: number;
  readonly success_count: number;
  readonly failure_count: number;
  readonly total_cost: Usd;
  readonly total_tokens: number;
  readonly avg_latency_ms: number | null;
  readonly p95_latency_ms: number | null;
  readonly estimate: EstimatedRuns;
}

/** The days of an agent, oldest first. */
export interface AgentDays {
  readonly name: string;
  readonly days: readonly AgentDay[];
}

export interface AgentComparison extends AgentSummary {
  readonly p95_latency_ms: number | null;
}

/**
 * The agents of users, which come into being with their first run. Figures are exact sums over the stored runs, each counted once by its
 * newest header, and percentiles are exact; in an engine of several machines they may lag behind the writes by some seconds. All of one
 * answer is as of one moment. Every method may throw a `ConsumeError` with `storage_unavailable` or `overloaded` (retryable).
 */
export interface Agents {
  /** All that have runs: by `last_run_at` descending, then name. */
  list(userId: string, abort?: AbortSignal): Promise<readonly AgentSummary[]>;
  /** Likewise, a page of some. Equal ones are in the order of their names; what has no value comes last in either direction. */
  find(
    userId: string,
    filter: AgentFilter,
    page: PageRange,
    abort?: AbortSignal,
  ): Promise<Page<AgentSummary>>;
  /** @returns null for an unknown agent; one whose runs retention has removed is still known */
  read(userId: string, agentId: string, abort?: AbortSignal): Promise<AgentSummary | null>;
  /** Those of runs started in `range`. @returns null for an unknown agent */
  days(userId: string, agentId: string, range: TimeRange, abort?: AbortSignal): Promise<AgentDays | null>;
  /** Of all its runs, which are looked through. @returns null for an unknown agent */
  estimate(userId: string, agentId: string, abort?: AbortSignal): Promise<EstimatedRuns | null>;
  /** In the order of the ids given. @returns null where any of them is unknown */
  compare(
    userId: string,
    agentIds: readonly string[],
    abort?: AbortSignal,
  ): Promise<readonly AgentComparison[] | null>;
}
