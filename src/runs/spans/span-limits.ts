/** In which way the spans of a run are kept in memory, by their number. */
export interface SpanLimits {
  /** Of a run with more spans not everything is worked out from all of them at each commit. */
  readonly few: number;
  /** Of a run with more spans the header no longer follows them: `ClosedSpans`. */
  readonly followed: number;
}
