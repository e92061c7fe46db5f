import type { Counter, Histogram, Labels, Meter } from '../../component/telemetry.js';

/** Seconds that a task takes: from less than a millisecond to a machine in trouble. */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];
const LABEL_NAMES = ['processor'];

/** The metrics listed in README.md. */
export class MapMetrics {
  readonly #meter: Meter;
  readonly #labels: Labels;
  readonly #refused: Counter;
  readonly #failed: Counter;
  readonly #duration: Histogram;

  constructor(meter: Meter, processor: string) {
    this.#meter = meter;
    this.#labels = { processor };
    this.#refused = meter.counter('service_map_refused_batches_total', {
      description: 'Batches refused because the queue stayed full.',
      labelNames: LABEL_NAMES,
    });
    this.#failed = meter.counter('service_map_failed_tasks_total', {
      description: 'Tasks that failed or whose thread ended.',
      labelNames: LABEL_NAMES,
    });
    this.#duration = meter.histogram('service_map_task_duration_seconds', {
      description: 'Time from submitting a task to a thread until its result.',
      labelNames: LABEL_NAMES,
      buckets: BUCKETS,
    });
    // A series that exists from the start shows a rate at its first increase.
    this.#refused.add(0, this.#labels);
    this.#failed.add(0, this.#labels);
  }

  refused(): void {
    this.#refused.add(1, this.#labels);
  }

  failed(): void {
    this.#failed.add(1, this.#labels);
  }

  took(seconds: number): void {
    this.#duration.record(seconds, this.#labels);
  }

  /** @returns a function that ends the observation */
  observe(waiting: () => number): () => void {
    return this.#meter.gauge(
      'service_map_queue_batches',
      { description: 'Batches waiting for a thread.', labelNames: LABEL_NAMES },
      waiting,
      this.#labels,
    );
  }
}
