import type { SpanLimits } from '../../../runs/spans/span-limits.js';
import type { RememberedSpans } from '../../../runs/remembered-runs.js';

/** How the spans of runs are kept. */
export interface RunSize extends SpanLimits {
  /** Some 300 bytes each, half of that where a run has many. */
  readonly remembered: RememberedSpans;
  readonly reloads: ReloadSize;
  /**
   * Bytes of stored payloads that one commit reads, of all traces that it touches, to complete spans; one span more than
   * these may be read. What needs more is committed in parts.
   */
  readonly commitPayloadBytes: number;
}

/** In memory they are there twice while the commit is written: as read, and on their way into the tables. */
const COMMIT_PAYLOAD_BYTES = 64 * 1024 * 1024;

/** Spans of one user: so many at once, and so many more by the second. */
export interface SpanRate {
  readonly burst: number;
  readonly perSecond: number;
}

/** How many spans of runs that are not remembered are loaded. */
interface ReloadSize {
  /** Runs with more spans are long. */
  readonly long: number;
  /** Of long runs that are loaded for a user; further ones are closed. */
  readonly followed: SpanRate;
  /** Of runs with more than few spans that are loaded for a user, also to be closed; beyond it what touches more is refused. */
  readonly loaded: SpanRate;
  /** In one commit, of all users. */
  readonly atOnce: number;
  /** Of runs that are closed before a change that touches too many, in one commit. */
  readonly closedAtOnce: number;
  /** As `atOnce`, where one change alone touches so many runs with few spans. */
  readonly mostAtOnce: number;
}

export const RUN_SIZE: RunSize = {
  // Up to so many it takes less time and memory to look at all of them.
  few: 128,
  followed: 100_000,
  // What runs is ten seconds of a full daemon: exporters send what has ended every five seconds.
  remembered: { running: 400_000, ended: 50_000 },
  // Some 5 microseconds a span: one user gets a quarter of the thread at most, and a commit waits for a second.
  reloads: {
    long: 1000,
    followed: { burst: 200_000, perSecond: 10_000 },
    loaded: { burst: 200_000, perSecond: 50_000 },
    atOnce: 200_000,
    closedAtOnce: 100_000,
    mostAtOnce: 1_000_000,
  },
  commitPayloadBytes: COMMIT_PAYLOAD_BYTES,
};
