import type { Usd } from '../signal/money.js';
import type { Micros } from '../signal/time.js';
import type { Page, PageRange } from './paging.js';
import type { RunFilter } from './runs.js';

/** Which model calls count. Absent: no restriction. */
export type ModelFilter = Pick<RunFilter, 'agent_id' | 'start_time' | 'end_time'>;

/** What the calls of one model (spans of type `llm`) used. */
export interface ModelUsage {
  /** Null: of calls that name none. */
  readonly model: string | null;
  readonly calls: number;
  readonly priced_calls: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly total_tokens: number;
  readonly total_cost: Usd | null;
  readonly first_call_at: Micros;
  readonly last_call_at: Micros;
}

/**
 * The models that users' spans called. Sums are exact, of each span's newest version; in an engine of several machines they may lag behind
 * the writes by some seconds. May throw a `ConsumeError` with `storage_unavailable` or `overloaded` (retryable).
 */
export interface Models {
  /** By cost, then number of calls, descending. */
  list(userId: string, filter: ModelFilter, page: PageRange, abort?: AbortSignal): Promise<Page<ModelUsage>>;
}
