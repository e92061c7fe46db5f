import type { RunStatus } from '../../signal/span.js';
import type { Usd } from '../../signal/money.js';
import type { Micros } from '../../signal/time.js';

export const SERIES_GROUPS = ['agent', 'status', 'model', 'prompt_version'] as const;
type SeriesGroup = (typeof SERIES_GROUPS)[number];

/** At most so many groups are told apart; the runs of all others are one group. */
export const MOST_SERIES = 20;

/** What is asked for. Only runs of agents count, by their start. */
export interface SeriesRequest {
  /** Included. */
  readonly start_time: Micros;
  /** Not included. */
  readonly end_time: Micros;
  /** Width of a bucket; buckets begin at multiples of it since 1970. */
  readonly interval: Micros;
  /**
   * Absent: one group of all. `model`: groups are of the calls of models in place of runs, each with what it used itself, by its start; how
   * long they took and which succeeded is not told. `prompt_version`: those of {@link prompt}, which a run may be in several of.
   */
  readonly group_by?: SeriesGroup;
  /** Runs that used this prompt. */
  readonly prompt?: string;
  readonly agent_id?: string;
}

/** Figures of some runs. */
export interface RunTotals {
  readonly runs: number;
  /** `failed` and `timed_out`. */
  readonly failed: number;
  /** With a success signal that says so. */
  readonly success_count: number;
  /** Of those that have one; null: none has. */
  readonly cost: Usd | null;
  /** How many have one. */
  readonly priced_runs: number;
  readonly tokens: number | null;
  /** By nearest rank, of those that have a duration. */
  readonly p50_ms: number | null;
  readonly p95_ms: number | null;
}

export interface SeriesBucket extends RunTotals {
  readonly start: Micros;
}

/** The runs of one agent, of one status, and so on; all null: all, or all that are in no other group. */
export interface RunSeries {
  readonly agent: { readonly id: string; readonly name: string } | null;
  readonly status: RunStatus | null;
  /** Of groups by model; empty: of calls that name none. */
  readonly model?: string | null;
  readonly prompt_version?: number | null;
  /** Of all its buckets; null of calls, and of the group of all others. */
  readonly total: RunTotals | null;
  /** Those that have runs, in their order. */
  readonly buckets: readonly SeriesBucket[];
}

export interface FoundSeries {
  /** The one with the most runs first; that of all others last. */
  readonly groups: readonly RunSeries[];
  readonly total: RunTotals;
  /** Of the same time before. */
  readonly previous_total: RunTotals;
}

/**
 * How runs went over time, exactly, of each run's newest version. May throw a `ConsumeError` with `storage_unavailable` or `overloaded`
 * (retryable).
 */
export interface Series {
  read(userId: string, request: SeriesRequest, abort?: AbortSignal): Promise<FoundSeries>;
}
