import type { SpanType } from '../../signal/span.js';
import type { Micros } from '../../signal/time.js';
import type { Pages } from './paging.js';

export interface MapStats {
  /** Spans that failed; null where some were counted by a version that did not look. */
  readonly error_count: number | null;
  /** Within a tenth; null likewise, and where none has ended. */
  readonly p95_ms: number | null;
}

export interface MapNode extends MapStats {
  /** The name of the service or agent. */
  readonly id: string;
  /** The type of span that makes such a node; of several the first of agent, http, db, custom. */
  readonly span_type: SpanType;
  /** 0: an agent that has no span of its own. */
  readonly span_count: number;
}

/** Its figures are those of the called spans. */
export interface MapEdge extends MapStats {
  /** The id of the calling node. */
  readonly source: string;
  readonly target: string;
  /** Spans of the called node under one of the calling node. */
  readonly weight: number;
}

/** A user's service map: nodes by id, edges by source and target, by code points. */
export interface StoredMap {
  readonly nodes: Pages<MapNode>;
  readonly edges: Pages<MapEdge>;
}

/** Traces count in the hour in which they started, so both ends mean whole hours: every hour that has any time between them. */
export interface MapRange {
  /** Null: from the first on. */
  readonly since: Micros | null;
  /** Null: to the last one. */
  readonly before: Micros | null;
}

export const ALL_TIME: MapRange = { since: null, before: null };

/** What the traces that started in an hour add to the map. */
export interface MapHour {
  /** Its start. */
  readonly hour: Micros;
  /** Spans that have a node. */
  readonly spans: number;
  /** Of which failed; null where some were counted by a version that did not look. */
  readonly errors: number | null;
}

/** What the service map calls a node, by the type of span that makes it. */
export const NODE_TYPES = {
  agent: 'agent',
  http: 'service',
  db: 'database',
  custom: 'external',
} as const satisfies Partial<Record<SpanType, string>>;

export function nodeTypeOf(type: SpanType): string {
  const types: Partial<Record<SpanType, string>> = NODE_TYPES;
  return types[type] ?? type;
}

/** What came of deriving the service map afresh from everything stored, and comparing. */
export interface MapRebuild {
  readonly dry_run: boolean;
  /** How many were looked at. */
  readonly traces: number;
  readonly spans: number;
  /** Traces that were not in the map, because nobody derived their nodes when they came. */
  readonly unmapped_traces: number;
  /** Spans of the other traces whose stored node is not the one that follows from what is stored of them. */
  readonly differing_spans: number;
  /** Nodes and edges of a user and hour whose sum differs from that of the stored traces. */
  readonly differing_sums: number;
  /** Whether differences were corrected; false where there were none. */
  readonly corrected: boolean;
  /** Some of the differences, in words. */
  readonly examples: readonly string[];
  readonly duration_ms: number;
}

/**
 * Who calls whom, by the spans of users' traces. Sums are those of all traces whose nodes were derived (`service_map`), each counted once in
 * the hour in which it started; in an engine of several machines they may lag behind the writes by some seconds. Every method may throw a
 * `ConsumeError` with `storage_unavailable` or `overloaded` (retryable).
 */
export interface ServiceMap {
  read(userId: string, range: MapRange, abort?: AbortSignal): Promise<StoredMap>;
  /** The hours in which traces of the map started, in their order. */
  hours(userId: string, range: MapRange, abort?: AbortSignal): Promise<readonly MapHour[]>;
  /**
   * Derives the maps of all users afresh from everything stored, compares them with those kept, and corrects what differs, unless it is a
   * dry run. Everything else goes on meanwhile. It takes some seconds for a million spans.
   *
   * @returns null while one is under way already
   */
  rebuild(options: { readonly dryRun: boolean }): Promise<MapRebuild | null>;
}

/** Whether anything differed. */
export function hasDifferences(
  found: Pick<MapRebuild, 'unmapped_traces' | 'differing_spans' | 'differing_sums'>,
): boolean {
  return found.unmapped_traces + found.differing_spans + found.differing_sums > 0;
}
