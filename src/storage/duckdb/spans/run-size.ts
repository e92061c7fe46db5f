/** How the spans of one trace are kept. */
export interface RunSize {
  /** Of a trace with more spans not everything is worked out from all of them at each commit. */
  readonly few: number;
  /** Of a trace with more spans the header no longer follows them: `ClosedSpans`. */
  readonly followed: number;
}

/** Up to so many it takes less time and memory to look at all of them. */
export const FEW_SPANS = 128;
