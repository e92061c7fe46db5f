// Full-text search in runs: what is searched, and what is found.

import type { SpanType } from '../../signal/span.js';
import type { Micros } from '../../signal/time.js';
import type { FollowingRuns, RunCursor, RunSearch } from './runs.js';

/** The searched fields of a run and of its spans. */
export const RUN_FIELDS = [
  'agent_name',
  'outcome',
  'error_message',
  'tags',
  'metadata',
  'session_id',
  'user_id',
  'environment',
  'release',
  'agent_version',
  'repository',
] as const;
export const SPAN_FIELDS = ['name', 'model', 'error_message', 'input_data', 'output_data'] as const;
export type SearchedField = (typeof RUN_FIELDS)[number] | (typeof SPAN_FIELDS)[number];

/** A part of a text around the first match, as a person reads it. */
export interface Snippet {
  readonly text: string;
  /** The matches in it: start and end in UTF-16 units. */
  readonly marks: readonly (readonly [number, number])[];
}

/** A span as a match names it. */
export interface MatchedSpan {
  readonly span_id: string;
  readonly name: string;
  readonly type: SpanType;
}

/** Where a query was found. */
export interface TextMatch {
  /** Null for a field of the run. */
  readonly span: MatchedSpan | null;
  readonly field: SearchedField;
  readonly snippet: Snippet;
}

/** A {@link RunSearch} with a full-text query: `parseTextQuery` of `shared/text-query.ts`. */
export interface TextSearch extends RunSearch {
  readonly query: string;
}

/** A part of a list that a search may have to continue. */
export interface SearchRange<Cursor> {
  /** Null: from the start. */
  readonly after: Cursor | null;
  readonly limit: number;
  /** The search returns what it has found after about this many milliseconds. */
  readonly withinMs: number;
}

/**
 * Runs that have every word of a query in some of their fields, or in fields of any of their spans, and none of its excluded ones, in the
 * order of the list.
 */
export interface FoundByText extends FollowingRuns {
  /** By trace id, the field that has the most words of the query; absent for a query of excluded words only. */
  readonly matches: ReadonlyMap<string, TextMatch>;
  /** The start of the last run that was searched; null if the list is not ordered by start, or was searched completely. */
  readonly searched_back_to: Micros | null;
}

/** The position of a span in its run. */
export interface SpanPosition {
  readonly started_at: Micros;
  readonly span_id: string;
}

/** Spans of a run that have a word of a query. */
export interface FoundSpans {
  /** By start, then id; first the fields of the run itself. */
  readonly items: readonly TextMatch[];
  /** The position after which the search continues; null if it is complete. */
  readonly next: SpanPosition | null;
}

/** See `Runs`, whose methods these are. */
export interface SearchedRuns {
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
}
