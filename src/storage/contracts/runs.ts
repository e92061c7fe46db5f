// Runs with their spans, and data computed from them: agents, sessions, models, time series.

import type { JsonObject, ReadAttributes } from '../../signal/attributes.js';
import type { StoredCall, SummedPart } from '../../signal/call-details.js';
import type { LoggedEvent } from '../../signal/logged-event.js';
import type { NanoUsd, Usd } from '../../signal/money.js';
import { DIMENSIONS, type Dimension } from '../../signal/run-context.js';
import type { RunKind, RunStatus, SpanRecord, SpanType } from '../../signal/span.js';
import type { ScoreRecord } from '../../signal/score.js';
import type { Micros } from '../../signal/time.js';
import type { Page, PageRange, Pages } from './paging.js';
import type { Price } from '../../signal/price.js';
import type { ScoreCondition } from './scores.js';
import type { FoundSpans, SearchRange, SpanPosition, TextMatch } from './search.js';

/** A run as listed: the trace detail without spans and metadata. */
export interface RunSummary {
  readonly trace_id: string;
  readonly agent_id: string;
  readonly agent_name: string;
  /** Runs of kind `other` belong to the client that sent them and are not counted for any agent. */
  readonly kind: RunKind;
  readonly session_id: string | null;
  readonly user_id: string | null;
  readonly tags: readonly string[];
  /** The environment of the deployment. */
  readonly environment: string | null;
  /** The deployed version of the program. */
  readonly release: string | null;
  readonly agent_version: string | null;
  readonly repository: string | null;
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

/** Fields of a span that lists of spans omit. */
export interface SpanDetails {
  /** The parts of its tokens and cost, and when its answer began; null if unknown. */
  readonly call: StoredCall | null;
  /** As received; for a span received by OTLP, only the fields that cannot be derived from `sent`. */
  readonly metadata: JsonObject | null;
  /** For a span received by OTLP, the received bytes, unless its `metadata` was changed during processing. */
  readonly sent: {
    /** A `Span` in protobuf. */
    readonly bytes: Uint8Array;
    /** The enclosing `ResourceSpans` with a `ScopeSpans`, in protobuf. */
    readonly origin: Uint8Array;
  } | null;
}

/** A span as the trace detail shows it. */
export interface StoredSpan extends Readonly<
  Omit<
    SpanRecord,
    | 'metadata'
    | 'agent_hint'
    | 'map_hint'
    | 'run_kind'
    | 'context'
    | 'prompt'
    | 'call'
    | 'scores'
    | 'parent_is_remote'
  >
> {
  /**
   * GenAI events among the user's log records with its ids, if its own payload is incomplete: by time, then in order of arrival. Only
   * the newest if there are very many; the engine defines the limit.
   */
  readonly events?: readonly LoggedEvent[];
  /** The span on which its call is counted, if it is a duplicate: `runs/rules/duplicate-calls.ts`. */
  readonly same_as?: string;
  /** Present if requested. */
  readonly details?: SpanDetails;
}

/** A span with all of its fields. */
export type DetailedSpan = StoredSpan & { readonly details: SpanDetails };

/**
 * A score of a run. `span_id` is also set if only the response of the span is known. Null for the whole run, or for a span that is not
 * known.
 */
export type StoredScore = Omit<ScoreRecord, 'trace_id'>;

/** Scores returned for a run: the newest if it has more. */
export const MOST_SCORES = 1000;

/** A whole trace. */
export interface StoredTrace extends RunSummary {
  readonly metadata: JsonObject | null;
  /**
   * By start in nanoseconds as sent, then depth, then `span_id`. Throws ConsumeError `storage_unavailable` if the trace is removed while it is read.
   */
  readonly spans: Pages<StoredSpan>;
}

/** A span without its payload. */
export interface SpanSummary extends Omit<StoredSpan, 'input_data' | 'output_data' | 'events' | 'details'> {
  /** Its node in the service map; null if it has none. */
  readonly node: string | null;
  /** Size of its own `input_data` and `output_data` as UTF-8 JSON; null if it has none. */
  readonly input_bytes: number | null;
  readonly output_bytes: number | null;
  /** The beginning of its input's JSON: up to 200 characters. */
  readonly preview: string | null;
}

/** A trace whose spans come without their payloads. */
export interface TraceSummary extends RunSummary {
  readonly metadata: JsonObject | null;
  /** The last commit included: pass it to get later spans. */
  readonly seq: number;
  /**
   * As in {@link StoredTrace}. Spans received while it is read may already be included, and are returned again by the next call.
   */
  readonly spans: Pages<SpanSummary>;
}

/** Selects runs by their dimensions. Matches exactly, in the form of `storableIdentity`. */
export type DimensionFilter = { readonly [Field in Dimension]?: string };

/** A field of runs that conditions and suggestions name: a dimension, or a key of their metadata. */
export type RunField = Dimension | `metadata.${string}`;

/** The key of a metadata field; null for another field. */
export function metadataKey(field: string): string | null {
  return field.startsWith('metadata.') ? field.slice('metadata.'.length) : null;
}

/** A condition on a field of runs. */
export interface FieldCondition {
  readonly field: RunField;
  /** `is` and `is_not` compare the whole text, or the JSON of other values; `contains` ignores case. Runs without the field meet `is_not`. */
  readonly test: 'is' | 'is_not' | 'contains';
  readonly value: string;
}

/** Fields with suggested values; `metadata` has the keys of metadata. */
export const VALUE_FIELDS = [...DIMENSIONS, 'session_id', 'user_id', 'tag', 'metadata'] as const;
export type ValueField = (typeof VALUE_FIELDS)[number] | `metadata.${string}`;

/** Values of a field to suggest. */
export interface WantedValues {
  readonly field: ValueField;
  /** Values that contain this text, ignoring case. */
  readonly contains?: string;
  /** Values of these runs. */
  readonly filter: RunFilter;
  readonly limit: number;
}

export interface FieldValue {
  readonly value: string;
  readonly runs: number;
}

/** Filter of a list of runs. Absent: no restriction. */
export interface RunFilter extends DimensionFilter {
  /** All must be met. */
  readonly where?: readonly FieldCondition[];
  /** All must be met. */
  readonly scores?: readonly ScoreCondition[];
  /** Includes agents that have only runs of kind `other`. */
  readonly agent_id?: string;
  readonly kind?: RunKind;
  /** Matches exactly, in the form of `storableIdentity`; so do the user, and a tag. */
  readonly session_id?: string;
  readonly user_id?: string;
  readonly tag?: string;
  /** Reverses the order of the list. */
  readonly oldest_first?: boolean;
  /** Sorts descending, or ascending if reversed; runs without the value last. Absent: `started_at`. */
  readonly sort?: RunSort;
  /** Both bounds included; runs without the value do not match. */
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
}

/** Selects runs with a span that matches all of these conditions; texts match exactly. */
export interface SpanFilter {
  readonly model?: string;
  readonly name?: string;
  readonly type?: SpanType;
  /** Its node in the service map. */
  readonly node?: string;
}

/** Conditions that headers cannot answer; matching runs are found but not counted. */
export interface RunSearch extends RunFilter {
  readonly span?: SpanFilter;
  /** Runs that used a prompt, in any version unless one is named. */
  readonly prompt?: { readonly name: string; readonly version?: number };
}

/** Data from the spans of a run that lists show. */
export interface RunPreview {
  readonly trace_id: string;
  /** Models named by its spans, by name; at most {@link PREVIEW_MODELS}. */
  readonly models: readonly string[];
  /** Failed or timed out. */
  readonly error_span_count: number;
  /** The beginning of the run's input in readable form; null if its first spans have no input, or more than 256 KiB of it. */
  readonly input_preview: string | null;
}

/** Maximum number of models listed for a run. */
export const PREVIEW_MODELS = 10;
/** Maximum length of a preview in UTF-16 units. */
export const PREVIEW_CHARACTERS = 200;

/** Sort keys of lists of runs, besides the start. */
export const RUN_SORTS = ['duration_ms', 'total_tokens', 'total_cost_usd'] as const;
export type RunSort = (typeof RUN_SORTS)[number];

/** The position of a run in a list. */
export interface RunCursor {
  readonly trace_id: string;
  readonly started_at: Micros;
  /** The value of the sort key; null for a run without it, and when sorting by start. */
  readonly value: number | null;
}

/** Runs of a list after a position. */
export type FollowingRuns = Omit<FoundRuns, 'count'> & {
  /** The position of the next page; null on the last page. */
  readonly next: RunCursor | null;
};

/** A page of a list of runs. */
export interface FoundRuns {
  /** Number of matches on all pages. */
  readonly count: number;
  /** The first runs of the page: all of them, unless their texts are too large to hold in memory. */
  readonly items: readonly RunSummary[];
  /** The other runs, if any. */
  readonly rest?: {
    readonly runs: number;
    readonly pages: AsyncIterable<readonly RunSummary[]>;
  };
}

/** Maximum length of a value in a condition on an attribute; longer values are not suggested. */
export const MAX_ATTRIBUTE_VALUE = 1024;

/** A condition on an attribute of spans, compared as in {@link FieldCondition}. */
export interface AttributeCondition extends Pick<FieldCondition, 'test' | 'value'> {
  readonly key: string;
}

/** Selects runs with a span that meets all conditions, and without any span that has the value of an `is_not`. */
export interface AttributeFilter {
  readonly conditions: readonly AttributeCondition[];
  readonly read: ReadAttributes;
}

/** A {@link RunSearch} with conditions that only reading spans can answer. */
export interface TextSearch extends RunSearch {
  /** A full-text query: `parseTextQuery` of `shared/text-query.ts`. Empty: none. */
  readonly query: string;
  readonly attributes?: AttributeFilter;
}

/** Maximum number of runs that are read for values of attributes. */
export const MOST_ATTRIBUTE_RUNS = 2000;

/** Values of an attribute to suggest. */
export interface WantedAttributes extends Omit<WantedValues, 'field'> {
  /** Null: the keys of attributes. */
  readonly key: string | null;
  readonly read: ReadAttributes;
  /** Runs are read for about this many milliseconds, the newest first. */
  readonly withinMs: number;
}

/**
 * Runs that have every word of a query in some of their fields, or in fields of any of their spans, and none of its excluded ones, and
 * meet the conditions on attributes, in the order of the list.
 */
export interface FoundByText extends FollowingRuns {
  /** By trace id, the field that has the most words of the query; absent for a query of excluded words only. */
  readonly matches: ReadonlyMap<string, TextMatch>;
  /** The start of the last run that was searched; null if the list is not ordered by start, or was searched completely. */
  readonly searched_back_to: Micros | null;
}

/** The fields set by {@link Runs.setOutcome}. Absent: unchanged. */
export interface OutcomeChange {
  readonly success: boolean;
  readonly outcome?: string;
}

/** The stored outcome of a run. */
export interface RunOutcome {
  readonly success: boolean;
  readonly outcome: string | null;
}

/**
 * Runs of users. Once a write is acknowledged, a run is read with all its spans, and its header reflects all of them; in a multi-node
 * engine lists and their counts may lag by some seconds. Count and first items of a list are consistent; later pages may contain newer
 * versions of their rows. Ids of users and traces are accepted in upper and lower case. Every method may throw a `ConsumeError` with
 * `storage_unavailable` or `overloaded` (retryable; nothing was changed).
 */
export interface Runs {
  /** @param asked.details whether to include {@link SpanDetails} @returns null for an unknown trace */
  read(
    userId: string,
    traceId: string,
    asked?: { readonly details?: boolean },
    abort?: AbortSignal,
  ): Promise<StoredTrace | null>;
  /**
   * @param since the `seq` of an earlier result: only spans received or changed after it; 0: all spans
   * @returns null for an unknown trace
   */
  traceSummary(
    userId: string,
    traceId: string,
    since: number,
    abort?: AbortSignal,
  ): Promise<TraceSummary | null>;
  /**
   * One span of a trace; the cost does not depend on the number of spans.
   *
   * @returns null for an unknown trace or span
   */
  readSpan(
    userId: string,
    traceId: string,
    spanId: string,
    abort?: AbortSignal,
  ): Promise<DetailedSpan | null>;
  /**
   * The scores of a run and its spans by time, then id; also those of responses that its spans received. At most {@link MOST_SCORES}.
   *
   * @returns empty for an unknown trace without scores
   */
  scores(userId: string, traceId: string, abort?: AbortSignal): Promise<readonly StoredScore[]>;
  /** Newest first by `started_at`, then `trace_id` descending. */
  list(userId: string, filter: RunFilter, page: PageRange, abort?: AbortSignal): Promise<FoundRuns>;
  /**
   * Runs of the same list after a position, without a count.
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
   * Searches in the order of a list, until the limit or the time is reached. Then `next` is set, even if no more runs match.
   */
  search(
    userId: string,
    search: TextSearch,
    range: SearchRange<RunCursor>,
    abort?: AbortSignal,
  ): Promise<FoundByText>;
  /** @returns null for an unknown trace */
  searchTrace(
    userId: string,
    traceId: string,
    query: string,
    range: SearchRange<SpanPosition>,
    abort?: AbortSignal,
  ): Promise<FoundSpans | null>;
  /** The most frequent values of a field, then by value. */
  values(userId: string, wanted: WantedValues, abort?: AbortSignal): Promise<readonly FieldValue[]>;
  /** The same for attributes of spans, in the newest runs. */
  attributeValues(
    userId: string,
    wanted: WantedAttributes,
    abort?: AbortSignal,
  ): Promise<readonly FieldValue[]>;
  /**
   * The current previews of some runs.
   *
   * @param traceIds 100 at most
   * @returns those of existing runs, in any order
   */
  preview(userId: string, traceIds: readonly string[], abort?: AbortSignal): Promise<readonly RunPreview[]>;
  /**
   * Runs by id, in pages that fit in memory; unknown ones are left out.
   *
   * @param traceIds at most a few hundred
   */
  find(
    userId: string,
    traceIds: readonly string[],
    abort?: AbortSignal,
  ): AsyncIterable<readonly RunSummary[]>;
  /**
   * Durable when it resolves; takes effect after the user's earlier writes.
   *
   * @returns the stored outcome; null for an unknown trace
   */
  setOutcome(userId: string, traceId: string, change: OutcomeChange): Promise<RunOutcome | null>;
}

/** Run counts by status, regardless of success signals. */
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
  /** Only if the filter has a period, which the other statistics then cover, too. */
  readonly periods?: ComparedPeriods;
}

/** Sort keys of lists of agents; `-` for descending. */
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

/**
 * Filter and order of a page of agents. Absent: all, by `-last_run_at`. With a version, agents with such a run; their statistics then
 * cover these runs only. With a period, agents with runs in it or in the one before.
 */
export interface AgentFilter extends DimensionFilter {
  readonly period?: Period;
  /** Case-insensitive substring of the name. */
  readonly query?: string;
  readonly sort?: AgentSort;
}

/**
 * Statistics in which each run is weighted by the inverse of its sampling rate (`1 / sample_rate`): estimates of the values without
 * sampling, equal to the plain values if nothing was sampled.
 */
export interface EstimatedRuns extends RunOutcomes {
  /** Number of stored runs that the estimate is based on. */
  readonly counted_runs: number;
  /** Number of them with a weight above 1. */
  readonly sampled_runs: number;
  readonly total_runs: number;
  readonly success_count: number;
  readonly failure_count: number;
  readonly total_cost: Usd;
  readonly total_tokens: number;
  readonly avg_latency_ms: number | null;
}

/** A time range, both ends included. */
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
 * Agents of users, created by their first run. Statistics are exact sums over the stored runs, each counted once by its newest header,
 * and percentiles are exact; in a multi-node engine they may lag by some seconds. Each result is a consistent snapshot. Every method may
 * throw a `ConsumeError` with `storage_unavailable` or `overloaded` (retryable).
 */
export interface Agents {
  /** All agents with runs: by `last_run_at` descending, then name. */
  list(userId: string, abort?: AbortSignal): Promise<readonly AgentSummary[]>;
  /** The same, filtered and paged. Ties are ordered by name; agents without a value come last in either direction. */
  find(
    userId: string,
    filter: AgentFilter,
    page: PageRange,
    abort?: AbortSignal,
  ): Promise<Page<AgentSummary>>;
  /** @returns null for an unknown agent; an agent whose runs retention has removed still exists */
  read(userId: string, agentId: string, abort?: AbortSignal): Promise<AgentSummary | null>;
  /** Statistics by day of runs started in `range`. @returns null for an unknown agent */
  days(userId: string, agentId: string, range: TimeRange, abort?: AbortSignal): Promise<AgentDays | null>;
  /** Estimate over all of its runs, which are scanned. @returns null for an unknown agent */
  estimate(userId: string, agentId: string, abort?: AbortSignal): Promise<EstimatedRuns | null>;
  /** Ordered as the given ids. @returns null if any of them is unknown */
  compare(
    userId: string,
    agentIds: readonly string[],
    abort?: AbortSignal,
  ): Promise<readonly AgentComparison[] | null>;
}

/** A conversation: the runs with the same session id. */
export interface SessionSummary {
  readonly session_id: string;
  /** The users of its runs, and their agents: the latest, {@link MOST_NAMED} at most. */
  readonly user_ids: readonly string[];
  readonly agents: readonly { readonly id: string; readonly name: string }[];
  readonly runs: number;
  /** Runs that failed or timed out. */
  readonly failed_runs: number;
  /** The first start, and the last time of any run. */
  readonly first_at: Micros;
  readonly last_at: Micros;
  /** Sum over the runs that have tokens; null if none has. */
  readonly total_tokens: number | null;
  readonly total_cost: Usd | null;
}

/** An end user: the runs with the same user id that match a filter. */
export interface UserSummary {
  readonly user_id: string;
  readonly runs: number;
  /** Runs that failed or timed out. */
  readonly failed_runs: number;
  readonly sessions: number;
  /** The last start of any run. */
  readonly last_at: Micros;
  /** Sum over the runs that have tokens; null if none has. */
  readonly total_tokens: number | null;
  readonly total_cost: Usd | null;
}

/** A repository: the runs that worked on it and match a filter. */
export interface RepositorySummary extends Omit<UserSummary, 'user_id'> {
  readonly repository: string;
  readonly users: number;
}

/** Selects the counted runs. */
export type UserFilter = Omit<SessionFilter, 'user_id'> & {
  /** Part of the id, in any case. */
  readonly query?: string;
};

/** Maximum number of users and agents listed for a session. */
export const MOST_NAMED = 20;

/** Selects sessions with a run that matches all of these conditions. Statistics cover all of their runs of the kind. */
export interface SessionFilter extends DimensionFilter {
  /** Absent: both kinds. */
  readonly kind?: RunKind;
  readonly user_id?: string;
  readonly agent_id?: string;
  /** Started at or after. */
  readonly start_time?: Micros;
  /** Started at or before. */
  readonly end_time?: Micros;
}

/**
 * Conversations of users, derived from their runs. Each result is a consistent snapshot; in a multi-node engine it may lag by some
 * seconds. Every method may throw a `ConsumeError` with `storage_unavailable` or `overloaded` (retryable).
 */
export interface Sessions {
  /** By the latest start of the matching runs, descending, then by id. */
  list(
    userId: string,
    filter: SessionFilter,
    page: PageRange,
    abort?: AbortSignal,
  ): Promise<Page<SessionSummary>>;
  /** @returns null if no run of the kind has this session id */
  read(
    userId: string,
    sessionId: string,
    filter: Pick<SessionFilter, 'kind'>,
    abort?: AbortSignal,
  ): Promise<SessionSummary | null>;
  /**
   * The scores of a session that name no run and no response, by time, then id: the newest {@link MOST_SCORES}. Of a session without runs,
   * too.
   */
  scores(userId: string, sessionId: string, abort?: AbortSignal): Promise<readonly StoredScore[]>;
  /** By cost, then runs, both descending, then by id. */
  users(userId: string, filter: UserFilter, page: PageRange, abort?: AbortSignal): Promise<Page<UserSummary>>;
  /** In the same order. */
  repositories(
    userId: string,
    filter: SessionFilter,
    page: PageRange,
    abort?: AbortSignal,
  ): Promise<Page<RepositorySummary>>;
}

/** Filter of model calls; agent and versions are those of their runs. Absent: no restriction. */
export type ModelFilter = Pick<RunFilter, 'agent_id' | 'start_time' | 'end_time' | Dimension>;

/** Selects model calls, with `kind` only those in runs of a kind. */
export type CallFilter = ModelFilter & Pick<RunFilter, 'kind'>;

/** Usage of one model: its calls (spans of type `llm`), and usage that other spans report beyond the calls below them. */
export interface ModelUsage {
  /** Null: no model. */
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

/** Calls of one model: outcomes, durations, and why calls have no cost. Percentiles are interpolated and exact. */
export interface ModelPerformance {
  readonly model: string | null;
  /** Number of calls with status `failed` or `timed_out`. */
  readonly failed_calls: number;
  /** Over the calls with a duration; null: there are none. */
  readonly p50_ms: number | null;
  readonly p95_ms: number | null;
  /** The median time to the first chunk of the answer, over the calls that report it. */
  readonly first_chunk_ms: number | null;
  /** Output tokens by second of call duration, over the calls that have both. */
  readonly tokens_per_second: number | null;
  /** Calls without a cost, by reason: no reported tokens, or no price. */
  readonly without_tokens: number;
  readonly without_price: number;
  /** By cost, then number of calls, descending: at most {@link MOST_NAMED}. */
  readonly agents: readonly {
    readonly id: string;
    readonly name: string;
    readonly calls: number;
    readonly total_cost: Usd | null;
  }[];
}

/** Calls of one tool: spans of type `tool` with its name. */
export interface ToolUsage {
  readonly tool: string;
  readonly calls: number;
  /** Number of calls with status `failed` or `timed_out`. */
  readonly failed_calls: number;
  /** Interpolated and exact, over the calls with a duration; null: there are none. */
  readonly p50_ms: number | null;
  readonly p95_ms: number | null;
  readonly last_call_at: Micros;
  /** By number of calls, descending: at most {@link MOST_NAMED}. */
  readonly agents: readonly {
    readonly id: string;
    readonly name: string;
    readonly calls: number;
    readonly failed_calls: number;
  }[];
}

/** Selects calls to reprice. */
export interface RepricedFilter extends ModelFilter {
  /** Null: calls without a model. */
  readonly model: string | null;
}

/** Why a call cannot be repriced. */
export const UNPRICEABLE = ['running', 'no_tokens', 'no_parts', 'too_large'] as const;
export type Unpriceable = (typeof UNPRICEABLE)[number];

/**
 * Cost of calls at another price: each call separately, from its tokens, as the processor `cost` would price it. A call reported by
 * several spans is priced on the span where it is counted.
 */
export interface RepricedCalls {
  readonly calls: number;
  /** Number of calls with a cost, and that cost; null: there are none. */
  readonly priced_calls: number;
  readonly total_cost: Usd | null;
  /** Number of calls that can be repriced, and their cost at the new price; null: there are none. */
  readonly repriced_calls: number;
  readonly repriced_cost: Usd | null;
  /** Number of calls with both, their cost, and their cost at the new price. */
  readonly both_calls: number;
  readonly both_cost: Usd | null;
  readonly both_repriced_cost: Usd | null;
  /** Calls that cannot be repriced: still running, without tokens, with a total only, or with a cost over a million dollars. */
  readonly left_out: Readonly<Record<Unpriceable, number>>;
  /** The tokens of the repriced calls; each token is in one part. */
  readonly tokens: Readonly<Record<SummedPart, number>>;
  /** Number of calls with enough input tokens for long-input rates. */
  readonly long_calls: number;
}

/**
 * Models and tools called by users' spans. Sums are exact, over each span's newest version; in a multi-node engine they may lag by some seconds.
 * May throw a `ConsumeError` with `storage_unavailable` or `overloaded` (retryable).
 */
export interface Models {
  /** By cost, then number of calls, descending. */
  list(userId: string, filter: ModelFilter, page: PageRange, abort?: AbortSignal): Promise<Page<ModelUsage>>;
  /** @param models some models of {@link list}; @returns those with calls, in any order */
  performance(
    userId: string,
    filter: ModelFilter,
    models: readonly (string | null)[],
    abort?: AbortSignal,
  ): Promise<readonly ModelPerformance[]>;
  /** By number of calls, descending, then name. */
  tools(userId: string, filter: ModelFilter, page: PageRange, abort?: AbortSignal): Promise<Page<ToolUsage>>;
  /** If calls must be rounded separately, every call is read, which is slower than reading sums. */
  reprice(userId: string, filter: RepricedFilter, price: Price, abort?: AbortSignal): Promise<RepricedCalls>;
}

export const SERIES_GROUPS = ['agent', 'status', 'model', 'prompt_version'] as const;
type SeriesGroup = (typeof SERIES_GROUPS)[number];

/** Maximum number of separate groups; the runs of all others form one group. */
export const MOST_SERIES = 20;

/** Query for a time series. Counts only runs of agents, by start. */
export interface SeriesRequest extends DimensionFilter {
  /** Included. */
  readonly start_time: Micros;
  /** Not included. */
  readonly end_time: Micros;
  /** Width of a bucket; buckets begin at multiples of it since 1970. */
  readonly interval: Micros;
  /**
   * Absent: one group of all runs. `model`: groups of model calls instead of runs, each with its own usage, by its start; without
   * durations and success. `prompt_version`: versions of {@link prompt}; a run may be in several.
   */
  readonly group_by?: SeriesGroup;
  /** Runs that used this prompt. */
  readonly prompt?: string;
  readonly agent_id?: string;
  /** Further conditions on the runs; ignored for groups of model calls. */
  readonly filter?: Omit<RunFilter, 'agent_id' | 'kind'>;
}

/** Statistics of some runs. */
export interface RunTotals {
  readonly runs: number;
  /** Number of runs with status `failed` or `timed_out`. */
  readonly failed: number;
  /** Number of runs with a positive success signal. */
  readonly success_count: number;
  /** Sum over the runs with a cost; null if none has. */
  readonly cost: Usd | null;
  /** Number of runs with a cost. */
  readonly priced_runs: number;
  readonly tokens: number | null;
  /** `quantile_cont`, over the runs with a duration. */
  readonly p50_ms: number | null;
  readonly p95_ms: number | null;
}

/** The start is included, the end is not. The period before is as long and ends at the start. */
export interface Period {
  readonly start_time: Micros;
  readonly end_time: Micros;
}

/** Statistics of the runs of a period. */
export interface PeriodTotals extends RunTotals {
  /** Number of runs with a negative success signal. */
  readonly failure_count: number;
  /** Number of runs whose status is any but `running`. */
  readonly finished_runs: number;
  /** The last start; null without runs. */
  readonly last_at: Micros | null;
}

/** A period and the one before. */
export interface ComparedPeriods {
  readonly total: PeriodTotals;
  readonly previous_total: PeriodTotals;
}

export interface SeriesBucket extends RunTotals {
  readonly start: Micros;
}

/** Runs of one group (one agent, one status, and so on); all keys null: all runs, or all that are in no other group. */
export interface RunSeries {
  readonly agent: { readonly id: string; readonly name: string } | null;
  readonly status: RunStatus | null;
  /** When grouped by model; empty: calls without a model. */
  readonly model?: string | null;
  readonly prompt_version?: number | null;
  /** Over all its buckets; null for calls, and for the group of all others. */
  readonly total: RunTotals | null;
  /** Non-empty buckets in order. */
  readonly buckets: readonly SeriesBucket[];
}

export interface FoundSeries {
  /** Most runs first; the group of all others last. */
  readonly groups: readonly RunSeries[];
  readonly total: RunTotals;
  /** For the preceding period of equal length. */
  readonly previous_total: RunTotals;
}

/**
 * Runs over time, exact, by each run's newest version. May throw a `ConsumeError` with `storage_unavailable` or `overloaded`
 * (retryable).
 */
export interface Series {
  read(userId: string, request: SeriesRequest, abort?: AbortSignal): Promise<FoundSeries>;
}
