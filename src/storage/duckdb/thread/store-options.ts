import type { HealthIssue } from '../files/health-issues.js';
import type { DatabaseOptions } from '../files/database.js';
import type { RecentSize } from '../write/recent-events.js';
import type { Retention } from './housekeeping.js';
import type { IndexSize } from '../index/id-index.js';
import type { RebuildSize } from '../maintenance/rebuild-work.js';
import type { CompactionSettings } from '../maintenance/compactor.js';
import type { ReadLimits } from '../segments/read-limits.js';
import type { RunSize } from '../write/run-size.js';
import type { CommitReport, SegmentSize } from '../write/writer.js';

export interface StoreOptions extends DatabaseOptions, Retention {
  /** The identity of the control plane whose numbers of users and prompts rows carry. */
  readonly control: string;
  /** Maximum sealed segments before compaction; with more, ingestion is slowed down. Absent: no limit. */
  readonly maxWaitingSegments?: number;
  /** Bytes reserved for work that must continue on a full disk. Absent: none. */
  readonly reserveBytes?: number;
  /** Whether to open the store although some of its files are missing. */
  readonly acceptsLoss?: boolean;
  /** In place of `SEGMENT_SIZE`, for tests of what happens between segments. */
  readonly segmentSize?: SegmentSize;
  /** Replaces the usual pace in tests of segments that cannot be compacted. */
  readonly compactionSettings?: CompactionSettings;
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

/** Receives notifications after the event. */
export interface StoreListener {
  /** A commit of telemetry. */
  readonly committed: (report: CommitReport) => void;
  /** DuckDB refuses all further statements: only a new process can reopen the files. */
  readonly died: (error: unknown) => void;
  /** All current health issues; empty if there are none. */
  readonly troubled: (healthIssues: readonly HealthIssue[]) => void;
}
