import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Counter, Histogram, Meter } from '../../../component/telemetry.js';
import { KeptMetrics } from '../../shared/kept-metrics.js';
import { ReadMetrics } from '../../shared/read-metrics.js';
import type { StoreStats } from '../thread/store-stats.js';
import type { CommitReport } from '../write/writer.js';
import { bytesOf, SegmentFiles } from '../files/segment-files.js';

/** The store's metrics about itself. */
export class StoreMetrics {
  readonly kept: KeptMetrics;
  readonly #meter: Meter;
  readonly #commits: Histogram;
  readonly #committedRows: Counter;
  readonly #refusedBatches: Counter;
  readonly #truncatedRuns: Counter;
  readonly #refusedReloads: Counter;
  readonly #mergedLogBlocks: Counter;
  readonly #damagedReads: Counter;
  readonly #otherAgents: Counter;
  readonly #reads: ReadMetrics;
  #stats: Omit<StoreStats, 'reads'> = {
    hotSegments: 0,
    waitingSegments: 0,
    isDiskFull: false,
    damagedReads: 0,
    isClockAhead: false,
    quarantinedSegments: 0,
    refusedWrites: 0,
    idFilterBytes: 0,
    truncatedRuns: 0,
    refusedReloads: 0,
    mergedLogBlocks: 0,
    removedRows: {},
    runsOfOtherAgents: 0,
  };

  constructor(meter: Meter) {
    this.#meter = meter;
    this.#reads = new ReadMetrics(meter);
    this.kept = new KeptMetrics(meter);
    this.#commits = meter.histogram('store_commit_duration_seconds', {
      description: 'Time of one group commit, from collecting the batches to the end of the transaction.',
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    });
    this.#committedRows = meter.counter('store_committed_rows_total', {
      description: 'Rows written, including new versions of spans and headers.',
      labelNames: ['table'],
    });
    this.#truncatedRuns = meter.counter('store_closed_runs_total', {
      description: 'Truncated runs: above max_run_spans, or above their user’s budget for long runs.',
    });
    this.#refusedReloads = meter.counter('store_refused_reloads_total', {
      description:
        'Writes refused because reloading or recomputing long runs exceeded the budget of their user.',
    });
    this.#damagedReads = meter.counter('store_damaged_reads_total', {
      description: 'Statements that failed on a damaged block; see /readyz for the file.',
    });
    this.#mergedLogBlocks = meter.counter('store_merged_log_blocks_total', {
      description: 'Small log blocks merged in the cold file.',
    });
    this.#otherAgents = meter.counter('store_runs_of_other_agents_total', {
      description: 'Run headers stored under the agent (other) because of max_agents.',
    });
    this.#refusedBatches = meter.counter('store_refused_batches_total', {
      description:
        'Batches refused because of max_queue_size, max_waiting_segments or a full disk (reserve).',
    });
  }

  committed({ ms, rows }: CommitReport): void {
    this.#commits.record(ms / 1000);
    for (const [table, count] of Object.entries(rows)) this.#committedRows.add(count, { table });
  }

  refusedBatch(): void {
    this.#refusedBatches.add(1);
  }

  /** Sets the values that the gauges show. */
  update(stats: StoreStats): void {
    this.#refusedBatches.add(stats.refusedWrites - this.#stats.refusedWrites);
    this.#reads.update(stats.reads);
    this.#truncatedRuns.add(stats.truncatedRuns - this.#stats.truncatedRuns);
    this.#refusedReloads.add(stats.refusedReloads - this.#stats.refusedReloads);
    this.#damagedReads.add(stats.damagedReads - this.#stats.damagedReads);
    this.#mergedLogBlocks.add(stats.mergedLogBlocks - this.#stats.mergedLogBlocks);
    this.#otherAgents.add(stats.runsOfOtherAgents - this.#stats.runsOfOtherAgents);
    const before = this.#stats.removedRows;
    this.kept.removed(
      Object.fromEntries(
        Object.entries(stats.removedRows).map(([table, rows]) => [table, rows - (before[table] ?? 0)]),
      ),
    );
    this.#stats = stats;
  }

  /** Registers the gauges. @returns functions that unregister them */
  observe(queuedBytes: () => number, mainPath: string): (() => void)[] {
    const files = new SegmentFiles(mainPath);
    const size = (kind: string, read: () => number): (() => void) =>
      this.#meter.gauge(
        'store_file_bytes',
        { description: 'Size of the store files including their logs, by kind.', labelNames: ['kind'] },
        read,
        { kind },
      );
    const gauge = (name: string, description: string, read: () => number): (() => void) =>
      this.#meter.gauge(name, { description }, read);
    return [
      size('main', () => bytesWithLog(files.main)),
      size('cold', () => bytesWithLog(files.cold)),
      size('hot', () => files.list().reduce((sum, { path }) => sum + bytesWithLog(path), 0)),
      gauge('store_disk_free_bytes', 'Free space of the file system that holds the store.', () => {
        const { bavail, bsize } = statfsSync(dirname(mainPath));
        return bavail * bsize;
      }),
      gauge('store_queued_bytes', 'Encoded batches waiting for their commit.', queuedBytes),
      gauge(
        'store_hot_segments',
        'Hot segments: files that accept new rows or wait for compaction.',
        () => this.#stats.hotSegments,
      ),
      gauge(
        'store_waiting_segments',
        'Full segments waiting for compaction (max_waiting_segments).',
        () => this.#stats.waitingSegments,
      ),
      gauge(
        'store_segments_aside',
        'Quarantined segments, which cannot be compacted or read; see the log and /readyz for their names.',
        () => this.#stats.quarantinedSegments,
      ),
      gauge(
        'store_disk_full',
        '1 if writes are refused because the disk is full (reserve), otherwise 0.',
        () => Number(this.#stats.isDiskFull),
      ),
      gauge(
        'store_clock_ahead',
        '1 if retention is paused because the system clock jumped ahead, otherwise 0.',
        () => Number(this.#stats.isClockAhead),
      ),
      gauge('store_id_filter_bytes', 'Memory of the trace id index.', () => this.#stats.idFilterBytes),
      ...this.#reads.observe(),
      () => {
        this.kept.end();
      },
    ];
  }
}

function bytesWithLog(path: string): number {
  return bytesOf(path) + bytesOf(`${path}.wal`);
}
