import type { Usd } from '../../signal/money.js';
import type { RunKind } from '../../signal/span.js';
import type { Micros } from '../../signal/time.js';
import type { Page, PageRange } from './paging.js';

/** A conversation: the runs that name the same session. */
export interface SessionSummary {
  readonly session_id: string;
  /** Whom its runs were for, and which agents they are of: those that came last, {@link MOST_NAMED} at most. */
  readonly user_ids: readonly string[];
  readonly agents: readonly { readonly id: string; readonly name: string }[];
  readonly runs: number;
  /** Those that failed or timed out. */
  readonly failed_runs: number;
  /** The first start, and the last time of any run. */
  readonly first_at: Micros;
  readonly last_at: Micros;
  /** Of the runs that have any; null where none has. */
  readonly total_tokens: number | null;
  readonly total_cost: Usd | null;
}

/** How many users and agents a session names. */
export const MOST_NAMED = 20;

/** Which sessions: those with a run for which all of this holds. Figures are those of all their runs of the kind. */
export interface SessionFilter {
  /** Absent: both. */
  readonly kind?: RunKind;
  readonly user_id?: string;
  readonly agent_id?: string;
  /** Started at or after. */
  readonly start_time?: Micros;
  /** Started at or before. */
  readonly end_time?: Micros;
}

/**
 * Conversations of users, which are what their runs make of them. All of one answer is as of one moment; in an engine of several machines
 * it may lag behind the writes by some seconds. Every method may throw a `ConsumeError` with `storage_unavailable` or `overloaded`
 * (retryable).
 */
export interface Sessions {
  /** By the last start of the runs that the filter lets through, descending, then by the id. */
  list(
    userId: string,
    filter: SessionFilter,
    page: PageRange,
    abort?: AbortSignal,
  ): Promise<Page<SessionSummary>>;
  /** @returns null where no run of the kind names it */
  read(
    userId: string,
    sessionId: string,
    filter: Pick<SessionFilter, 'kind'>,
    abort?: AbortSignal,
  ): Promise<SessionSummary | null>;
}
