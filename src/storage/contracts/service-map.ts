import type { SpanType } from '../../signal/span.js';
import type { Micros } from '../../signal/time.js';
import type { Pages } from './paging.js';

export interface MapStats {
  /** Failed spans; null if some were counted by a version that did not record failures. */
  readonly error_count: number | null;
  /** Accurate to 1%; null in the same case, and if no span has ended. */
  readonly p95_ms: number | null;
}

export interface MapNode extends MapStats {
  /** The name of the service or agent. */
  readonly id: string;
  /** The span type of the node; if there are several, the first of agent, http, db, custom. */
  readonly span_type: SpanType;
  /** 0: an agent without spans of its own. */
  readonly span_count: number;
}

/** A call between nodes; its statistics are those of the called spans. */
export interface MapEdge extends MapStats {
  /** The id of the calling node. */
  readonly source: string;
  readonly target: string;
  /** Number of spans of the called node below one of the calling node. */
  readonly weight: number;
}

/** A user's service map: nodes by id, edges by source and target, ordered by code points. */
export interface StoredMap {
  readonly nodes: Pages<MapNode>;
  readonly edges: Pages<MapEdge>;
}

/**
 * Traces are counted in the hour in which they started, so both bounds select whole hours: every hour that overlaps the range.
 */
export interface MapRange {
  /** Null: no lower bound. */
  readonly since: Micros | null;
  /** Null: no upper bound. */
  readonly before: Micros | null;
}

export const ALL_TIME: MapRange = { since: null, before: null };

/** Nodes and edges from the traces that started in one hour. */
export interface MapHour {
  /** Its start. */
  readonly hour: Micros;
  /** Spans with a node. */
  readonly spans: number;
  /** Number of them that failed; null if some were counted by a version that did not record failures. */
  readonly errors: number | null;
}

/** The node type for each span type that creates nodes. */
export const NODE_TYPES = {
  agent: 'agent',
  http: 'service',
  db: 'database',
  custom: 'external',
  // Tools of MCP servers.
  tool: 'external',
} as const satisfies Partial<Record<SpanType, string>>;

export function nodeTypeOf(type: SpanType): string {
  const types: Partial<Record<SpanType, string>> = NODE_TYPES;
  return types[type] ?? type;
}

/** Result of rebuilding the service map from all stored spans and comparing. */
export interface MapRebuild {
  readonly dry_run: boolean;
  /** Number of traces checked. */
  readonly traces: number;
  readonly spans: number;
  /** Traces missing from the map because their nodes were not derived on arrival. */
  readonly unmapped_traces: number;
  /** Spans of the other traces whose stored node differs from the derived one. */
  readonly differing_spans: number;
  /** Nodes and edges of a user and hour whose sum differs from the stored traces. */
  readonly differing_sums: number;
  /** Whether differences were corrected; false if there were none. */
  readonly corrected: boolean;
  /** Descriptions of some of the differences. */
  readonly examples: readonly string[];
  readonly duration_ms: number;
}

/**
 * Calls between services, from the spans of users' traces. Sums cover all traces whose nodes were derived (`service_map`), each counted
 * once in the hour in which it started; in a multi-node engine they may lag by some seconds. Every method may throw a `ConsumeError`
 * with `storage_unavailable` or `overloaded` (retryable).
 */
export interface ServiceMap {
  read(userId: string, range: MapRange, abort?: AbortSignal): Promise<StoredMap>;
  /** The hours in which traces of the map started, in order. */
  hours(userId: string, range: MapRange, abort?: AbortSignal): Promise<readonly MapHour[]>;
  /**
   * Rebuilds the maps of all users from all stored spans, compares them with the stored maps, and corrects differences unless it is a
   * dry run. Does not block other work. Takes some seconds per million spans.
   *
   * @returns null if a rebuild is already running
   */
  rebuild(options: { readonly dryRun: boolean }): Promise<MapRebuild | null>;
}

/** Whether anything differed. */
export function hasDifferences(
  found: Pick<MapRebuild, 'unmapped_traces' | 'differing_spans' | 'differing_sums'>,
): boolean {
  return found.unmapped_traces + found.differing_spans + found.differing_sums > 0;
}
