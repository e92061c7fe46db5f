// Full-text search in runs: what is searched, and what is found.

import type { SpanType } from '../../signal/span.js';
import type { Micros } from '../../signal/time.js';

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

/** A part of a list that a search may have to continue. */
export interface SearchRange<Cursor> {
  /** Null: from the start. */
  readonly after: Cursor | null;
  readonly limit: number;
  /** The search returns what it has found after about this many milliseconds. */
  readonly withinMs: number;
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
