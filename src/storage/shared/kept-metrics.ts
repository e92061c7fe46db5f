import type { Counter, Meter } from '../../component/telemetry.js';
import type { TelemetrySignal } from '../../signal/batch.js';
import type { Micros } from '../../signal/time.js';
import { MICROS_PER_SECOND } from '../../signal/time-units.js';

/** The time of the oldest run, point and record; null if absent. */
export type OldestTimes = Readonly<Record<TelemetrySignal, Micros | null>>;
/** Rows removed by retention, by table. */
export type RemovedRows = Readonly<Record<string, number>>;

/** Metrics about stored data and retention, with the same names in every engine. */
export class KeptMetrics {
  readonly #meter: Meter;
  readonly #removed: Counter;
  readonly #ends = new Map<TelemetrySignal, () => void>();
  #oldest: Partial<OldestTimes> = {};

  constructor(meter: Meter) {
    this.#meter = meter;
    this.#removed = meter.counter('store_removed_rows_total', {
      description: 'Rows removed by retention, by table.',
      labelNames: ['table'],
    });
  }

  removed(rows: RemovedRows): void {
    for (const [table, count] of Object.entries(rows)) this.#removed.add(count, { table });
  }

  /** Replaces the exported values; a signal without data has no series. */
  update(oldest: OldestTimes): void {
    this.#oldest = oldest;
    for (const signal of Object.keys(oldest) as TelemetrySignal[]) {
      if (oldest[signal] === null) this.#end(signal);
      else if (!this.#ends.has(signal)) this.#ends.set(signal, this.#show(signal));
    }
  }

  /** Ends all series. */
  end(): void {
    for (const signal of [...this.#ends.keys()]) this.#end(signal);
  }

  #show(signal: TelemetrySignal): () => void {
    return this.#meter.gauge(
      'store_oldest_timestamp_seconds',
      { description: 'Time of the oldest stored run, metric point or log record.', labelNames: ['signal'] },
      () => (this.#oldest[signal] ?? 0) / MICROS_PER_SECOND,
      { signal },
    );
  }

  #end(signal: TelemetrySignal): void {
    this.#ends.get(signal)?.();
    this.#ends.delete(signal);
  }
}
