import type { RememberedSpans } from '../remembered-traces.js';

/** How the spans of runs are kept. */
export interface RunSize {
  /** Of a trace with more spans not everything is worked out from all of them at each commit. */
  readonly few: number;
  /** Of a trace with more spans the header no longer follows them: `ClosedSpans`. */
  readonly followed: number;
  /** Some 300 bytes each, half of that where a run has many. */
  readonly remembered: RememberedSpans;
  readonly reloads: ReloadSize;
}

/** Which runs that are not remembered any more are loaded again, rather than closed. */
export interface ReloadSize {
  /** Those with no more spans always are. */
  readonly long: number;
  /** Spans of other runs that are loaded again for a user, at once and by the second. */
  readonly burst: number;
  readonly perSecond: number;
}

export const RUN_SIZE: RunSize = {
  // Up to so many it takes less time and memory to look at all of them.
  few: 128,
  followed: 100_000,
  // What runs is ten seconds of a full daemon: exporters send what has ended every five seconds.
  remembered: { running: 400_000, ended: 50_000 },
  // Some 5 microseconds a span: a twentieth of the thread for one user.
  reloads: { long: 1000, burst: 200_000, perSecond: 10_000 },
};
