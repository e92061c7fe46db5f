import type { JsonObject } from '../../signal/attributes.js';
import type { CallDetails } from '../../signal/call-details.js';
import type { LoggedEvent } from '../../signal/logged-event.js';
import type { NanoUsd } from '../../signal/money.js';
import type { RunKind, RunStatus, SpanRecord, SpanType } from '../../signal/span.js';
import type { Micros } from '../../signal/time.js';
import type { PageRange, Pages } from './paging.js';

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
export interface OutlinedSpan extends Omit<StoredSpan, 'input_data' | 'output_data' | 'events' | 'details'> {
  /** Its node in the service map; null where it makes none. */
  readonly node: string | null;
  /** Of its own `input_data` and `output_data` as JSON in UTF-8; null where it brought none. */
  readonly input_bytes: number | null;
  readonly output_bytes: number | null;
  /** How the JSON of its input begins: up to 200 characters. */
  readonly preview: string | null;
}

/** A trace whose spans come without their payloads. */
export interface TraceOutline extends RunSummary {
  readonly metadata: JsonObject | null;
  /** How far it shows what was written: to be asked for what came later. */
  readonly seq: number;
  /** As in {@link StoredTrace}. What came while it is read may be there already, and is told again with what came later. */
  readonly spans: Pages<OutlinedSpan>;
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
export interface RunGlance {
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
export interface RunPlace {
  readonly trace_id: string;
  readonly started_at: Micros;
  /** What the list is sorted by; null for a run without it, and where it is sorted by the start. */
  readonly value: number | null;
}

/** Runs of a list behind a place. */
export type FollowingRuns = Omit<FoundRuns, 'count'> & {
  /** Where the next ones follow; null where there are none. */
  readonly next: RunPlace | null;
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
  outline(userId: string, traceId: string, since: number, abort?: AbortSignal): Promise<TraceOutline | null>;
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
    from: { readonly after: RunPlace | null; readonly limit: number },
    abort?: AbortSignal,
  ): Promise<FollowingRuns>;
  /**
   * What lists show of the spans of some runs, as they are now.
   *
   * @param traceIds 100 at most
   * @returns those that there are, in any order
   */
  glance(userId: string, traceIds: readonly string[], abort?: AbortSignal): Promise<readonly RunGlance[]>;
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
