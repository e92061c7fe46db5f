// Runs with their spans, and what is computed from them: agents, sessions, models, series over time.

import type { JsonObject } from '../../signal/attributes.js';
import type { CallDetails, CostPart } from '../../signal/call-details.js';
import type { LoggedEvent } from '../../signal/logged-event.js';
import type { NanoUsd, Usd } from '../../signal/money.js';
import type { RunKind, RunStatus, SpanRecord, SpanType } from '../../signal/span.js';
import type { Micros } from '../../signal/time.js';
import type { Page, PageRange, Pages } from './paging.js';
import type { Price } from '../../signal/price.js';

/** A run as lists show it: the trace detail without spans and metadata. */
export interface RunSummary {
  readonly trace_id: string;
  readonly agent_id: string;
  readonly agent_name: string;
  /** Runs of kind `other` belong to what sent them, and count in no figure of an agent. */
  readonly kind: RunKind;
  readonly session_id: string | null;
  readonly user_id: string | null;
  readonly tags: readonly string[];
  readonly status: RunStatus;
  readonly started_at: Micros;
  readonly ended_at: Micros | null;
  readonly duration_ms: number | null;
  readonly success: boolean | null;
  readonly outcome: string | null;
  readonly error_message: string | null;
  readonly total_tokens: number | null;
  readonly total_cost_usd: NanoUsd | null;
  /** As in `TraceHeader`. */
  readonly sample_rate: number | null;
  readonly span_count: number;
}

/** What a span brought beside what lists of spans show. */
export interface SpanDetails {
  /** Of what its tokens and its cost consist; null where nothing more is known of them. */
  readonly call: Pick<CallDetails, 'usage' | 'cost'> | null;
  /** As its sender gave it; of a span that came by OTLP only what does not follow from `sent`. */
  readonly metadata: JsonObject | null;
  /** Of a span that came by OTLP the bytes that came, unless somebody has changed its `metadata` on the way. */
  readonly sent: {
    /** A `Span` in protobuf. */
    readonly bytes: Uint8Array;
    /** A `ResourceSpans` with a `ScopeSpans`, in protobuf: what it came under. */
    readonly origin: Uint8Array;
  } | null;
}

/** A span as the trace detail shows it. */
export interface StoredSpan extends Readonly<
  Omit<SpanRecord, 'metadata' | 'agent_hint' | 'map_hint' | 'run_kind' | 'context' | 'prompt' | 'call'>
> {
  /**
   * GenAI events among the log records with its ids, of the same user, where its own payload lacks something: in the order of time, then as
   * they came. Of very many the newest; an engine says how many.
   */
  readonly events?: readonly LoggedEvent[];
  /** The span by which its call is counted, where that is another one: `runs/rules/told-calls.ts`. */
  readonly same_as?: string;
  /** Where they were asked for. */
  readonly details?: SpanDetails;
}

/** A span with everything that it brought. */
export type DetailedSpan = StoredSpan & { readonly details: SpanDetails };

/** A whole trace. */
export interface StoredTrace extends RunSummary {
  readonly metadata: JsonObject | null;
  /** In the order of `started_at`, then `span_id`. Throws ConsumeError `storage_unavailable` where the trace is removed meanwhile. */
  readonly spans: Pages<StoredSpan>;
}

/** A span without its payload. */
export interface SpanSummary extends Omit<StoredSpan, 'input_data' | 'output_data' | 'events' | 'details'> {
  /** Its node in the service map; null where it makes none. */
  readonly node: string | null;
  /** Of its own `input_data` and `output_data` as JSON in UTF-8; null where it brought none. */
  readonly input_bytes: number | null;
  readonly output_bytes: number | null;
  /** How the JSON of its input begins: up to 200 characters. */
  readonly preview: string | null;
}

/** A trace whose spans come without their payloads. */
export interface TraceSummary extends RunSummary {
  readonly metadata: JsonObject | null;
  /** How far it shows what was written: to be asked for what came later. */
  readonly seq: number;
  /** As in {@link StoredTrace}. What came while it is read may be there already, and is told again with what came later. */
  readonly spans: Pages<SpanSummary>;
}

/** Which runs a list shows. Absent: no restriction. */
export interface RunFilter {
  /** Also one that has only runs of kind `other`. */
  readonly agent_id?: string;
  readonly kind?: RunKind;
  /** Exactly, as `storableIdentity` gives it; likewise the user, and one of the tags. */
  readonly session_id?: string;
  readonly user_id?: string;
  readonly tag?: string;
  /** The order of the list turned round. */
  readonly oldest_first?: boolean;
  /** What comes first: the greatest, or the least where it is turned round; runs without it last. Absent: `started_at`. */
  readonly sort?: RunSort;
  /** Both ends included; runs without the figure match neither. */
  readonly min_duration_ms?: number;
  readonly max_duration_ms?: number;
  readonly min_cost?: NanoUsd;
  readonly max_cost?: NanoUsd;
  readonly status?: RunStatus;
  readonly success?: boolean;
  /** Started at or after. */
  readonly start_time?: Micros;
  /** Started at or before. */
  readonly end_time?: Micros;
  /** Case-insensitive substring of agent name, outcome or error message. */
  readonly query?: string;
}

/** Runs with a span for which all of this holds, each text exactly. */
export interface SpanFilter {
  readonly model?: string;
  readonly name?: string;
  readonly type?: SpanType;
  /** Its node in the service map. */
  readonly node?: string;
}

/** What runs may be looked for by that is not in their headers; such runs are found and not counted. */
export interface RunSearch extends RunFilter {
  readonly span?: SpanFilter;
  /** Runs that used a prompt, in any version unless one is named. */
  readonly prompt?: { readonly name: string; readonly version?: number };
}

/** What lists show of the spans of a run. */
export interface RunPreview {
  readonly trace_id: string;
  /** That its spans name, by name; {@link GLANCE_MODELS} at most. */
  readonly models: readonly string[];
  /** Failed or timed out. */
  readonly error_span_count: number;
  /** How what it was given begins, as people read it; null where its first spans brought no input. */
  readonly input_preview: string | null;
}

/** Models of a run that a list names. */
export const GLANCE_MODELS = 10;
/** The longest preview, in UTF-16 units. */
export const GLANCE_CHARACTERS = 200;

/** What lists of runs may be sorted by, beside their start. */
export const RUN_SORTS = ['duration_ms', 'total_tokens', 'total_cost_usd'] as const;
export type RunSort = (typeof RUN_SORTS)[number];

/** A place in a list of runs: that of one of its runs. */
export interface RunCursor {
  readonly trace_id: string;
  readonly started_at: Micros;
  /** What the list is sorted by; null for a run without it, and where it is sorted by the start. */
  readonly value: number | null;
}

/** Runs of a list behind a place. */
export type FollowingRuns = Omit<FoundRuns, 'count'> & {
  /** Where the next ones follow; null where there are none. */
  readonly next: RunCursor | null;
};

/** A page of a list of runs. */
export interface FoundRuns {
  /** All that match, on any page. */
  readonly count: number;
  /** The first of the page: all of it, unless their texts are too much to be held in memory. */
  readonly items: readonly RunSummary[];
  /** The others, where there are some. */
  readonly rest?: {
    readonly runs: number;
    readonly pages: AsyncIterable<readonly RunSummary[]>;
  };
}

/** What {@link Runs.setOutcome} sets. Absent: the outcome stays. */
export interface OutcomeChange {
  readonly success: boolean;
  readonly outcome?: string;
}

/** How a run turned out, by what is stored. */
export interface RunOutcome {
  readonly success: boolean;
  readonly outcome: string | null;
}

/**
 * The runs of users. A run that a write has answered for is read with all its spans at once, and its header is the one that follows from all
 * of them; lists and their counts may lag behind by some seconds in an engine of several machines. Count and first items of a list are of
 * one moment; pages that follow may show later versions of their rows. Ids of users and traces are taken in any case. Every method may
 * throw a `ConsumeError` with `storage_unavailable` or `overloaded` (retryable; nothing was changed).
 */
export interface Runs {
  /**
   * @param asked.details whether the spans come with {@link SpanDetails}
   * @returns null for an unknown trace
   */
  read(
    userId: string,
    traceId: string,
    asked?: { readonly details?: boolean },
    abort?: AbortSignal,
  ): Promise<StoredTrace | null>;
  /**
   * @param since the `seq` of an outline before: only spans that came, or changed, after it; 0: all
   * @returns null for an unknown trace
   */
  outline(userId: string, traceId: string, since: number, abort?: AbortSignal): Promise<TraceSummary | null>;
  /**
   * One span of a trace, which costs the same however many others the trace has.
   *
   * @returns null for an unknown trace, and where the trace has no such span
   */
  readSpan(
    userId: string,
    traceId: string,
    spanId: string,
    abort?: AbortSignal,
  ): Promise<DetailedSpan | null>;
  /** Newest first by `started_at`, then `trace_id` descending. */
  list(userId: string, filter: RunFilter, page: PageRange, abort?: AbortSignal): Promise<FoundRuns>;
  /**
   * The runs of the same list behind a place, without counting them: what is asked for costs nothing of the others but finding them.
   *
   * @param after null: from the start
   */
  follow(
    userId: string,
    search: RunSearch,
    from: { readonly after: RunCursor | null; readonly limit: number },
    abort?: AbortSignal,
  ): Promise<FollowingRuns>;
  /**
   * What lists show of the spans of some runs, as they are now.
   *
   * @param traceIds 100 at most
   * @returns those that there are, in any order
   */
  preview(userId: string, traceIds: readonly string[], abort?: AbortSignal): Promise<readonly RunPreview[]>;
  /**
   * Runs by their ids, in pages that memory can hold; unknown ones are left out.
   *
   * @param traceIds at most a few hundred
   */
  find(
    userId: string,
    traceIds: readonly string[],
    abort?: AbortSignal,
  ): AsyncIterable<readonly RunSummary[]>;
  /**
   * Durable when it resolves, and takes effect after the writes of the user that were called before.
   *
   * @returns what is stored now; null for an unknown trace
   */
  setOutcome(userId: string, traceId: string, change: OutcomeChange): Promise<RunOutcome | null>;
}

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
 * The agents of users, which come into being with their first run. Stats are exact sums over the stored runs, each counted once by its
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

/** Which sessions: those with a run for which all of this holds. Stats are those of all their runs of the kind. */
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

/** Stats of some runs. */
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
