import type { Counter, Histogram, Meter } from '../../component/telemetry.js';
import type { StoreFigures } from './store-engine.js';
import type { CommitReport } from './writer.js';

/** The store's metrics about itself. */
export class StoreMetrics {
  readonly #meter: Meter;
  readonly #commits: Histogram;
  readonly #committedRows: Counter;
  readonly #refusedBatches: Counter;
  readonly #refusedReads: Counter;
  #figures: StoreFigures = {
    hotSegments: 0,
    idFilterBytes: 0,
    waitingReads: 0,
    refusedReads: 0,
  };

  constructor(meter: Meter) {
    this.#meter = meter;
    this.#commits = meter.histogram('store_commit_duration_seconds', {
      description: 'Time of one group commit, from taking the batches to the end of the transaction.',
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    });
    this.#committedRows = meter.counter('store_committed_rows_total', {
      description: 'Rows written, new versions of spans and headers included.',
      labelNames: ['table'],
    });
    this.#refusedReads = meter.counter('store_refused_reads_total', {
      description: 'Reads refused because too many were waiting.',
    });
    this.#refusedBatches = meter.counter('store_refused_batches_total', {
      description: 'Batches refused because too much was waiting for its commit (max_queue_size).',
    });
  }

  committed({ ms, rows }: CommitReport): void {
    this.#commits.record(ms / 1000);
    for (const [table, count] of Object.entries(rows)) this.#committedRows.add(count, { table });
  }

  refusedBatch(): void {
    this.#refusedBatches.add(1);
  }

  /** What the gauges show from now on. */
  update(figures: StoreFigures): void {
    this.#refusedReads.add(figures.refusedReads - this.#figures.refusedReads);
    this.#figures = figures;
  }

  /** Begins to show the gauges. @returns functions that end that */
  observe(queuedBytes: () => number): (() => void)[] {
    const gauge = (name: string, description: string, read: () => number): (() => void) =>
      this.#meter.gauge(name, { description }, read);
    return [
      gauge('store_queued_bytes', 'Encoded batches that wait for their commit.', queuedBytes),
      gauge(
        'store_hot_segments',
        'Files that take new rows or wait to be moved.',
        () => this.#figures.hotSegments,
      ),
      gauge('store_id_filter_bytes', 'Memory of the ids of all traces.', () => this.#figures.idFilterBytes),
      gauge('store_waiting_reads', 'Reads that wait for a connection.', () => this.#figures.waitingReads),
    ];
  }
}
