import type { SpanLimits } from '../../../runs/spans/span-limits.js';
import type { RememberedSpans } from '../../../runs/remembered-runs.js';

/** How the spans of runs are kept. */
export interface RunSize extends SpanLimits {
  /** At some 300 bytes each, half of that where a run has many. */
  readonly remembered: RememberedSpans;
  readonly reloads: ReloadSize;
  /**
   * How many bytes of stored payloads one commit reads, over all traces that it touches, to complete spans; one more span may
   * exceed it. What needs more is committed in parts.
   */
  readonly commitPayloadBytes: number;
}

/** While the commit is written they are in memory twice: as read, and on their way into the tables. */
const COMMIT_PAYLOAD_BYTES = 64 * 1024 * 1024;

/** An allowance of spans of one user: so many at once, and so many more every second. */
export interface SpanRate {
  readonly burst: number;
  readonly perSecond: number;
}

/** How many spans of runs that are not in memory may be loaded. */
interface ReloadSize {
  /** Runs with more spans are long. */
  readonly long: number;
  /** Spans of long runs that are loaded for a user; further long runs are closed. */
  readonly followed: SpanRate;
  /**
   * Spans of runs with more than a few that are loaded for a user, including those loaded to close a run; changes that need more
   * are refused.
   */
  readonly loaded: SpanRate;
  /** Spans loaded in one commit, over all users. */
  readonly atOnce: number;
  /** Spans of runs that are closed, in one commit, before a change that touches too many. */
  readonly truncatedAtOnce: number;
  /** In place of `atOnce`, where a single change touches so many runs with few spans. */
  readonly mostAtOnce: number;
}

export const RUN_SIZE: RunSize = {
  // Up to this many it takes less time and memory to look at all of them.
  few: 128,
  followed: 100_000,
  // Open runs: what a full daemon takes in ten seconds, since exporters send what has ended every five.
  remembered: { running: 400_000, ended: 50_000 },
  // Some 5 microseconds a span: one user gets at most a quarter of the thread, and a commit waits for a second.
  reloads: {
    long: 1000,
    followed: { burst: 200_000, perSecond: 10_000 },
    loaded: { burst: 200_000, perSecond: 50_000 },
    atOnce: 200_000,
    truncatedAtOnce: 100_000,
    mostAtOnce: 1_000_000,
  },
  commitPayloadBytes: COMMIT_PAYLOAD_BYTES,
};
