/** How the spans of a run are kept in memory, depending on their number. */
export interface SpanLimits {
  /** For a run with more spans, derived values are updated incrementally instead of computed from all spans at each commit. */
  readonly few: number;
  /** The header of a run with more spans no longer follows them: `TruncatedSpans`. */
  readonly followed: number;
}
