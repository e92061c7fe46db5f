import type { RememberedSpans } from '../../../runs/remembered-runs.js';

/** Limits on spans in memory and on loading them. */
export interface RunSize {
  /** Loading a run with up to this many spans is not charged. */
  readonly few: number;
  /** A run with more spans is truncated: `TruncatedSpans`. */
  readonly maxSpans: number;
  /** Spans kept in memory, at some 400 bytes each. */
  readonly remembered: RememberedSpans;
  readonly reloads: ReloadSize;
  /**
   * Bytes of stored payloads that one commit reads to complete spans, over all touched traces; one more span may exceed it. Larger
   * changes are committed in parts.
   */
  readonly commitPayloadBytes: number;
}

/** During the commit the payloads are in memory twice: as read, and in the rows to write. */
const COMMIT_PAYLOAD_BYTES = 64 * 1024 * 1024;

/** A span allowance per user: a burst, and a rate per second. */
export interface SpanRate {
  readonly burst: number;
  readonly perSecond: number;
}

/** Limits on loading spans of runs that are not in memory. */
interface ReloadSize {
  /** Runs with more spans than this are long. */
  readonly long: number;
  /** Spans of long runs loaded per user; further long runs are truncated. */
  readonly followed: SpanRate;
  /** Spans from which a user's commits recompute runs with more than a few; changes that exceed it are refused. */
  readonly recomputed: SpanRate;
  /** Spans of runs with more than a few spans loaded per user, including loads for truncation; changes that exceed it are refused. */
  readonly loaded: SpanRate;
  /** Spans loaded in one commit, over all users. */
  readonly atOnce: number;
  /** Spans of runs truncated in one commit to make room for a change that touches too many. */
  readonly truncatedAtOnce: number;
  /** Replaces `atOnce` if a single change touches many runs with few spans. */
  readonly mostAtOnce: number;
}

export const RUN_SIZE: RunSize = {
  few: 128,
  // Recomputing a run takes about a microsecond per span: 10 ms in each commit at this size.
  maxSpans: 10_000,
  // Open runs: ten seconds of input at full load, because exporters send ended spans every five seconds.
  remembered: { running: 300_000, ended: 50_000 },
  // Loading takes some 8 microseconds per span, recomputing one: a user gets at most a quarter of the thread for each, and a commit is
  // delayed by at most a second.
  reloads: {
    long: 1000,
    followed: { burst: 200_000, perSecond: 10_000 },
    recomputed: { burst: 400_000, perSecond: 200_000 },
    loaded: { burst: 200_000, perSecond: 30_000 },
    atOnce: 100_000,
    truncatedAtOnce: 100_000,
    mostAtOnce: 1_000_000,
  },
  commitPayloadBytes: COMMIT_PAYLOAD_BYTES,
};
