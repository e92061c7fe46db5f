import type { ConsumeContext, Receipt } from '../component/consumer.js';
import type { JsonObject } from '../signal/attributes.js';
import type { LogsBatch, MetricsBatch, TracesBatch } from '../signal/batch.js';
import type { Severity } from '../signal/log-record.js';
import type { MetricType } from '../signal/metric.js';
import type { NanoUsd, Usd } from '../signal/money.js';
import type { RunStatus } from '../signal/span.js';
import type { Micros } from '../signal/time.js';
import type { MapRebuild } from './map-rebuild.js';

/** A run as lists show it: the trace detail without spans and metadata. */
export interface RunSummary {
  readonly trace_id: string;
  readonly agent_id: string;
  readonly agent_name: string;
  readonly status: RunStatus;
  readonly started_at: Micros;
  readonly ended_at: Micros | null;
  readonly duration_ms: number | null;
  readonly success: boolean | null;
  readonly outcome: string | null;
  readonly error_message: string | null;
  readonly total_tokens: number | null;
  readonly total_cost_usd: NanoUsd | null;
  readonly span_count: number;
}

/** A whole trace. The spans come as bytes, because there may be very many of them. */
export interface StoredTrace extends RunSummary {
  readonly metadata: JsonObject | null;
  /**
   * The spans in the order of `started_at`, then `span_id`, as pieces of the text of a JSON array's inside
   * (`{…},{…}`, no brackets, commas included), each span as the API shows it. Throws ConsumeError
   * `storage_unavailable` where the trace is removed meanwhile.
   */
  readonly spans: AsyncIterable<Uint8Array>;
}

/** Which runs a list shows. Absent: no restriction. */
export interface RunFilter {
  readonly agent_id?: string;
  readonly status?: RunStatus;
  readonly success?: boolean;
  /** Started at or after. */
  readonly start_time?: Micros;
  /** Started at or before. */
  readonly end_time?: Micros;
  /** Case-insensitive substring of agent name, outcome or error message. */
  readonly query?: string;
}

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

export interface AgentSummary {
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

/** One UTC day of an agent; only days with runs are returned. */
export interface AgentDay {
  /** `YYYY-MM-DD` */
  readonly date: string;
  readonly total_runs: number;
  readonly success_count: number;
  readonly failure_count: number;
  /** Runs whose status is `failed` or `timed_out`. */
  readonly failed_runs: number;
  readonly total_cost: Usd;
  readonly total_tokens: number;
  readonly avg_latency_ms: number | null;
  readonly p95_latency_ms: number | null;
}

export interface AgentComparison extends AgentSummary {
  readonly p95_latency_ms: number | null;
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

/** A metric as the list shows it; type, unit and description are those seen last. */
export interface MetricSummary {
  readonly name: string;
  readonly type: MetricType;
  readonly unit: string;
  readonly description: string;
  readonly data_point_count: number;
}

/** Which points of a metric a query shows. Absent: no restriction. */
export interface PointFilter {
  /** Pairs that a point's labels must all have. */
  readonly labels?: Readonly<Record<string, string>>;
  /** At or after. */
  readonly start_time?: Micros;
  /** At or before. */
  readonly end_time?: Micros;
  readonly limit: number;
  /** Whether to add what is kept of a point beside what it measured: start time, flags, exemplars. */
  readonly details?: boolean;
}

/** Points of one metric. */
export interface MetricPoints {
  readonly name: string;
  readonly type: MetricType;
  readonly unit: string;
  /**
   * The points, newest first, as pieces of the text of a JSON array's inside (`{…},{…}`, no brackets, commas included), each
   * as the API shows it.
   */
  readonly points: AsyncIterable<Uint8Array>;
}

/** Which log records a search finds. Absent: no restriction. */
export interface LogFilter {
  /** Full text, as `log-text.ts` reads it. */
  readonly query?: string;
  readonly service_name?: string;
  readonly severity?: Severity;
  /** A UUID in lower case. */
  readonly trace_id?: string;
  /** At or after. */
  readonly start_time?: Micros;
  /** At or before. */
  readonly end_time?: Micros;
}

export interface LogPage {
  readonly offset: number;
  readonly limit: number;
  /** Whether to add what was sent with a record beside what the API shows by default. */
  readonly details?: boolean;
}

/** A page of the log records that a search found. */
export interface FoundLogs {
  /** All that were found, on any page. */
  readonly count: number;
  /**
   * The page's records, newest first, as pieces of the text of a JSON array's inside (`{…},{…}`, no brackets, commas
   * included), each as the API shows it.
   */
  readonly items: AsyncIterable<Uint8Array>;
}

/** A user's service map: nodes by id, edges by source and target, each as the API shows them. */
export interface StoredMap {
  /** As pieces of the text of a JSON array's inside (`{…},{…}`, no brackets, commas included). */
  readonly nodes: AsyncIterable<Uint8Array>;
  readonly edges: AsyncIterable<Uint8Array>;
}

/** What a user has used of its quota. */
export interface QuotaUsage {
  /** A UTC month, `2026-11`. */
  readonly period: string;
  readonly used: number;
  readonly limit: number | null;
  /** The first moment of the next month. */
  readonly resets_at: Micros;
}

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
 * The telemetry of all users, each seeing only its own. What is written is read before the call returns: the caller may
 * change or drop the batch while it waits. `abort` ends when nobody waits for the answer any more: the store then gives up
 * looking for it, and what it throws is of no interest. Every method may throw a `ConsumeError` with
 * `storage_unavailable` or `overloaded` (retryable; nothing was changed).
 */
export interface TelemetryStore {
  /**
   * Stores what is new of a batch, settles what depends on stored rows, and resolves after
   * the commit: what it accepted is readable at once and survives the end of the process.
   */
  writeTraces(batch: TracesBatch, context: ConsumeContext): Promise<Receipt>;
  readTrace(tenant: string, traceId: string, abort?: AbortSignal): Promise<StoredTrace | null>;
  /** Sets the success signal and, where given, the outcome. @returns what is stored now; null for an unknown trace. */
  setOutcome(
    tenant: string,
    traceId: string,
    change: { readonly success: boolean; readonly outcome?: string },
  ): Promise<{ readonly success: boolean; readonly outcome: string | null } | null>;
  /** Newest first by `started_at`, then `trace_id` descending. */
  listRuns(
    tenant: string,
    filter: RunFilter,
    page: { readonly offset: number; readonly limit: number },
    abort?: AbortSignal,
  ): Promise<FoundRuns>;
  /** By `last_run_at` descending, then name. Agents without runs are not listed. */
  listAgents(tenant: string, abort?: AbortSignal): Promise<readonly AgentSummary[]>;
  /** Likewise, a page of some. Equal ones are in the order of their names. @returns the page and the number of all that match. */
  findAgents(
    tenant: string,
    filter: AgentFilter,
    page: { readonly offset: number; readonly limit: number },
    abort?: AbortSignal,
  ): Promise<{ readonly items: readonly AgentSummary[]; readonly count: number }>;
  readAgent(tenant: string, agentId: string, abort?: AbortSignal): Promise<AgentSummary | null>;
  /** The days of runs started in `range` (both ends included), oldest first. @returns null for an unknown agent. */
  agentDays(
    tenant: string,
    agentId: string,
    range: { readonly from: Micros; readonly to: Micros },
    abort?: AbortSignal,
  ): Promise<{ readonly name: string; readonly days: readonly AgentDay[] } | null>;
  /** In the order of the ids given. @returns null where any of them is unknown. */
  compareAgents(
    tenant: string,
    agentIds: readonly string[],
    abort?: AbortSignal,
  ): Promise<readonly AgentComparison[] | null>;
  /** By cost, then number of calls, descending. @returns the page and the number of all models. */
  listModels(
    tenant: string,
    filter: ModelFilter,
    page: { readonly offset: number; readonly limit: number },
    abort?: AbortSignal,
  ): Promise<{ readonly items: readonly ModelUsage[]; readonly count: number }>;
  /** Stores points; those of a new metric are refused where the user has too many. Resolves after the commit. */
  writeMetrics(batch: MetricsBatch, context: ConsumeContext): Promise<Receipt>;
  /** By name. A metric without points is not listed. */
  listMetrics(tenant: string): Promise<readonly MetricSummary[]>;
  /** @returns null where the user has no metric of that name */
  queryMetric(
    tenant: string,
    name: string,
    filter: PointFilter,
    abort?: AbortSignal,
  ): Promise<MetricPoints | null>;
  /** Stores log records. Resolves after the commit. */
  writeLogs(batch: LogsBatch, context: ConsumeContext): Promise<Receipt>;
  /** Newest first by `timestamp`, then `id` descending. */
  searchLogs(tenant: string, filter: LogFilter, page: LogPage, abort?: AbortSignal): Promise<FoundLogs>;
  /** @returns the trace that a log record belongs to; null for an unknown record and for one without a trace */
  readLogTrace(tenant: string, logId: string, abort?: AbortSignal): Promise<string | null>;
  /** @param since traces that started in or after the hour of this time; null for all */
  serviceMap(tenant: string, since: Micros | null, abort?: AbortSignal): Promise<StoredMap>;
  /**
   * Notes that a trace, which may come later, used a prompt version; the same again changes nothing. Resolves after the commit.
   *
   * @param now when it was made
   * @returns false, and nothing is noted, where the user has no such prompt version
   */
  linkPrompt(tenant: string, link: PromptLink, now: Micros): Promise<boolean>;
  /** The versions of a prompt, the newest first. @returns null where the user has no prompt of that name */
  comparePrompts(tenant: string, name: string): Promise<readonly PromptVersionFigures[] | null>;
  /**
   * Derives the service maps of all users afresh from everything stored, compares them with those kept, and corrects what
   * differs, unless it is a dry run. Everything else goes on meanwhile. It takes some seconds for a million spans.
   *
   * @returns null while one is under way already
   */
  rebuildServiceMap(options: { readonly dryRun: boolean }): Promise<MapRebuild | null>;
  /** The user's events of the month of `now`, as far as they are counted. */
  usage(tenant: string, now: Micros): Promise<QuotaUsage>;
  /**
   * Says which limit holds for users without one of their own, so that {@link usage} can tell; of several the smallest.
   *
   * @param monthlyEvents 0 for none
   * @returns what withdraws it
   */
  announceQuota(monthlyEvents: number): () => void;
}

/** Finds a telemetry store among extensions. */
export function isTelemetryStore(candidate: unknown): candidate is TelemetryStore {
  return (
    typeof candidate === 'object' &&
    candidate !== null &&
    'writeTraces' in candidate &&
    'readTrace' in candidate
  );
}
