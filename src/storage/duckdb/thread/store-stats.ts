import type { EngineParts } from './engine-parts.js';
import type { RemovedRows } from '../../shared/kept-metrics.js';
import type { ReadStats } from '../../shared/read-pool.js';

/** The state of the engine at a moment, for metrics. */
export interface StoreStats {
  readonly hotSegments: number;
  readonly waitingSegments: number;
  readonly quarantinedSegments: number;
  /** Whether the disk is full, so that writes are refused. */
  readonly isDiskFull: boolean;
  /** Statements that failed on a damaged block, since the start. */
  readonly damagedReads: number;
  /** Whether retention is paused because the clock jumped ahead; it resumes once the clock has run on for a day. */
  readonly isClockAhead: boolean;
  /** Writes refused because of too many waiting segments or a full disk, since the start. */
  readonly refusedWrites: number;
  readonly idFilterBytes: number;
  /** Headers written with `(other)` in place of their agent, since the start. */
  readonly runsOfOtherAgents: number;
  /** Reads of users. */
  readonly reads: ReadStats;
  /** Runs truncated since the start. */
  readonly truncatedRuns: number;
  /** Writes refused because reloading their runs from disk exceeded the user's budget, since the start. */
  readonly refusedReloads: number;
  /** Blocks of log records that were merged with others, since the start. */
  readonly mergedLogBlocks: number;
  /** Rows removed by retention since the start. */
  readonly removedRows: RemovedRows;
}

/** The current stats. */
export function statsOf(parts: EngineParts): StoreStats {
  const {
    segments,
    traces,
    truncatedSpans,
    truncatedRuns,
    prompts,
    logs,
    pools,
    otherAgents,
    pressure,
    room,
  } = parts;
  return {
    hotSegments: segments.sealed.length + 1,
    waitingSegments: segments.sealed.length,
    quarantinedSegments: segments.quarantinedCount,
    isDiskFull: room.isShort,
    damagedReads: parts.damage.statements,
    isClockAhead: parts.retentionClock.isWaiting,
    refusedWrites: pressure.refused + room.refused,
    idFilterBytes: [traces, truncatedSpans, prompts.linked, logs.withEvents].reduce(
      (sum, { bytes }) => sum + bytes,
      0,
    ),
    truncatedRuns: truncatedRuns.count,
    refusedReloads: parts.reloads.refused,
    mergedLogBlocks: parts.compactor.mergedBlocks,
    removedRows: parts.housekeeping.removed,
    reads: pools.users.stats,
    runsOfOtherAgents: otherAgents.runs,
  };
}
