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

/** Whether anything differed. */
export function hasDifferences(
  found: Pick<MapRebuild, 'unmapped_traces' | 'differing_spans' | 'differing_sums'>,
): boolean {
  return found.unmapped_traces + found.differing_spans + found.differing_sums > 0;
}
