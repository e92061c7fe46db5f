import type { HealthIssue } from '../files/health-issues.js';
import type { DatabaseOptions } from '../files/database.js';
import type { RecentSize } from '../write/recent-events.js';
import type { Retention } from './housekeeping.js';
import type { IndexSize } from '../index/id-index.js';
import type { RebuildSize } from '../maintenance/rebuild-work.js';
import type { CompactionPace } from '../maintenance/compactor.js';
import type { ReadLimits } from '../segments/read-limits.js';
import type { RunSize } from '../write/run-size.js';
import type { CommitReport, SegmentSize } from '../write/writer.js';

export interface StoreOptions extends DatabaseOptions, Retention {
  /** The identity of the control plane whose numbers of users and prompts rows carry. */
  readonly control: string;
  /** Sealed segments that may wait to be moved; with more of them ingestion is held back. Absent: any number. */
  readonly maxWaitingSegments?: number;
  /** Bytes kept free for what has to be done when the disk is full. Absent: none. */
  readonly reserveBytes?: number;
  /** Whether to go on without files of the store that are missing. */
  readonly acceptsLoss?: boolean;
  /** In place of `SEGMENT_SIZE`, for tests of what happens between segments. */
  readonly segmentSize?: SegmentSize;
  /** In place of the usual pace, for tests of segments that cannot be moved. */
  readonly compactionPace?: CompactionPace;
  /** In place of `REBUILD_SIZE`, for tests of what happens between the steps of a rebuild. */
  readonly rebuildSize?: RebuildSize;
  /** Agents that a user may have; runs of further ones are counted under `(other)`. */
  readonly maxAgents?: number;
  /** In place of `INDEX_SIZE`, for tests of ids in many files. */
  readonly indexSize?: IndexSize;
  /** In place of `READ_LIMITS`. */
  readonly readLimits?: ReadLimits;
  /** The header of a run with more spans no longer follows them. */
  readonly maxRunSpans: number;
  /** In place of `RUN_SIZE`, for tests of runs with many spans. */
  readonly runSize?: Partial<RunSize>;
  /** In place of `RECENT_SIZE`, for tests of events that memory no longer has. */
  readonly recentSize?: RecentSize;
}

/** Gets told what happened, afterwards. */
export interface StoreListener {
  /** A commit of telemetry. */
  readonly committed: (report: CommitReport) => void;
  /** DuckDB refuses everything from now on: only another process can open the files again. */
  readonly died: (error: unknown) => void;
  /** Everything that somebody should see to, in words; empty when all is well. */
  readonly troubled: (healthIssues: readonly HealthIssue[]) => void;
}
