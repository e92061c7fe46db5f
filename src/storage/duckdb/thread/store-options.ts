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
  /** Identity of the control store that assigned the numbers of users and prompts in the rows. */
  readonly control: string;
  /** Maximum sealed segments before compaction; with more, ingestion is slowed down. Absent: no limit. */
  readonly maxWaitingSegments?: number;
  /** Bytes reserved for work that must continue on a full disk. Absent: none. */
  readonly reserveBytes?: number;
  /** Whether to open the store although some of its files are missing. */
  readonly acceptsLoss?: boolean;
  /** Overrides `SEGMENT_SIZE` in tests of several segments. */
  readonly segmentSize?: SegmentSize;
  /** Overrides `FILTER_BYTES` in tests with few texts. */
  readonly filterBytes?: number;
  /** Overrides the usual pace in tests of segments that cannot be compacted. */
  readonly compactionSettings?: CompactionSettings;
  /** Overrides `REBUILD_SIZE` in tests of rebuilds with several steps. */
  readonly rebuildSize?: RebuildSize;
  /** Maximum agents of a user; runs of further agents are counted under `(other)`. */
  readonly maxAgents?: number;
  /** Overrides `INDEX_SIZE` in tests with ids in many files. */
  readonly indexSize?: IndexSize;
  /** Overrides `READ_LIMITS`. */
  readonly readLimits?: ReadLimits;
  /** Maximum spans of a run; beyond that the run is truncated. */
  readonly maxRunSpans: number;
  /** Overrides `RUN_SIZE` in tests of runs with many spans. */
  readonly runSize?: Partial<RunSize>;
  /** Overrides `RECENT_SIZE` in tests of events that are no longer in memory. */
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
