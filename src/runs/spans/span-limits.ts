/** How the spans of a run are kept in memory, depending on their number. */
export interface SpanLimits {
  /** For a run with more spans, what follows is updated instead of being worked out anew from all of them at each commit. */
  readonly few: number;
  /** The header of a run with more spans no longer follows them: `TruncatedSpans`. */
  readonly followed: number;
}
