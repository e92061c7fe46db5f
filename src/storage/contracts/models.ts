import type { CostPart } from '../../signal/call-details.js';
import type { Usd } from '../../signal/money.js';
import type { Price } from '../../signal/price.js';
import type { Micros } from '../../signal/time.js';
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

/** Calls that are to be priced anew. */
export interface RepricedFilter extends ModelFilter {
  /** Null: calls that name none. */
  readonly model: string | null;
}

/** Why a call has no price of another model. */
export const UNPRICEABLE = ['running', 'no_tokens', 'no_parts', 'too_large'] as const;
export type Unpriceable = (typeof UNPRICEABLE)[number];

/**
 * What calls would have cost at another price: each by itself, of the tokens that it used, as the processor `cost` would price it. A call
 * of which several spans tell is priced by the span where it counts.
 */
export interface RepricedCalls {
  readonly calls: number;
  /** Those that have a cost, and what they cost; null: none has. */
  readonly priced_calls: number;
  readonly total_cost: Usd | null;
  /** Those for which a cost follows from their tokens, and what they would have cost; null: there is none. */
  readonly repriced_calls: number;
  readonly repriced_cost: Usd | null;
  /** Those that have both, what they cost, and what they would have cost. */
  readonly both_calls: number;
  readonly both_cost: Usd | null;
  readonly both_repriced_cost: Usd | null;
  /** Calls for which no cost follows: they run still, report no tokens, only a total of tokens, or would cost a million dollars. */
  readonly left_out: Readonly<Record<Unpriceable, number>>;
  /** The tokens of those that were priced anew; each is in one part. */
  readonly tokens: Readonly<Record<CostPart, number>>;
  /** How many of them had so many input tokens that the rates for long inputs applied. */
  readonly long_calls: number;
}

/**
 * The models that users' spans called. Sums are exact, of each span's newest version; in an engine of several machines they may lag behind
 * the writes by some seconds. May throw a `ConsumeError` with `storage_unavailable` or `overloaded` (retryable).
 */
export interface Models {
  /** By cost, then number of calls, descending. */
  list(userId: string, filter: ModelFilter, page: PageRange, abort?: AbortSignal): Promise<Page<ModelUsage>>;
  /** Where calls would have to be rounded each by itself, every one is looked at, which takes longer than sums. */
  reprice(userId: string, filter: RepricedFilter, price: Price, abort?: AbortSignal): Promise<RepricedCalls>;
}
