import type { DatabaseOptions } from '../files/database.js';
import type { RecentSize } from '../events/recent-events.js';
import type { Retention } from './housekeeping.js';
import type { IndexSize } from '../ids/id-index.js';
import type { RebuildSize } from '../rebuild/rebuild-work.js';
import type { MovePace } from '../upkeep/mover.js';
import type { ReadLimits } from '../reads/read-limits.js';
import type { RunSize } from '../runs/run-size.js';
import type { CommitReport, SegmentSize } from '../commits/writer.js';

export interface StoreOptions extends DatabaseOptions, Retention {
  /** The identity of the control plane whose numbers of users and prompts rows carry. */
  readonly control: string;
  /** Sealed segments that may wait to be moved; more hold ingestion back. Absent: any number. */
  readonly maxWaitingSegments?: number;
  /** Kept free for what is done when the disk is full, in bytes. Absent: nothing is. */
  readonly reserveBytes?: number;
  /** Other than `SEGMENT_SIZE`, for tests of what happens between segments. */
  readonly segmentSize?: SegmentSize;
  /** Other than the usual one, for tests of segments that cannot be moved. */
  readonly movePace?: MovePace;
  /** Other than `REBUILD_SIZE`, for tests of what happens between the steps of a rebuild. */
  readonly rebuildSize?: RebuildSize;
  /** Agents that a user may have; runs of further ones are counted under `(other)`. */
  readonly maxAgents?: number;
  /** Other than `INDEX_SIZE`, for tests of ids in many files. */
  readonly indexSize?: IndexSize;
  /** Other than `READ_LIMITS`. */
  readonly readLimits?: ReadLimits;
  /** Of a run with more spans the header no longer follows them. */
  readonly maxRunSpans: number;
  /** Other than `RUN_SIZE`, for tests of runs with many spans. */
  readonly runSize?: Partial<RunSize>;
  /** Other than `RECENT_SIZE`, for tests of events that are not remembered any more. */
  readonly recentSize?: RecentSize;
}

/** Is told of what was committed, afterwards. */
export interface StoreListener {
  /** A commit of telemetry. */
  readonly committed: (report: CommitReport) => void;
  /** DuckDB refuses everything from now on: only another process can open the files again. */
  readonly died: (error: unknown) => void;
  /** All that somebody should see to, in words; nothing when all is well. */
  readonly troubled: (messages: readonly string[]) => void;
}
