import type { Counter, Histogram, Labels, Meter } from '../../component/telemetry.js';
import { ATTEMPT_KINDS } from '../../delivery/senders/webhook/sender.js';
import type { DeliveryStats } from '../../storage/contracts/deliveries.js';
import type { AttemptNote } from './sending.js';

/** Buckets of attempt durations, in seconds. */
const DURATIONS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60];
/** Buckets of the delay from an event to its first attempt, in seconds. An event for an inactive endpoint may wait for days. */
const DELAYS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 3600, 86_400];
const LABEL_NAMES = ['exporter'];

/** The metrics listed in README.md. */
export class WebhookMetrics {
  readonly #meter: Meter;
  readonly #labels: Labels;
  readonly #attempts: Counter;
  readonly #paused: Counter;
  readonly #duration: Histogram;
  readonly #delay: Histogram;

  constructor(meter: Meter, exporter: string) {
    this.#meter = meter;
    this.#labels = { exporter };
    this.#attempts = meter.counter('webhook_attempts_total', {
      description: 'Finished attempts by result: success, refused, timed_out, blocked, failed.',
      labelNames: [...LABEL_NAMES, 'result'],
    });
    this.#paused = meter.counter('webhook_endpoints_paused_total', {
      description: 'Endpoints paused after too many consecutive failed attempts.',
      labelNames: LABEL_NAMES,
    });
    this.#duration = meter.histogram('webhook_attempt_duration_seconds', {
      description: 'Time of one attempt.',
      labelNames: LABEL_NAMES,
      buckets: DURATIONS,
    });
    this.#delay = meter.histogram('webhook_first_attempt_delay_seconds', {
      description: 'Time from an event to the start of its first delivery attempt.',
      labelNames: LABEL_NAMES,
      buckets: DELAYS,
    });
    // A series that exists from the start shows a rate at its first increase.
    this.paused(0);
    for (const kind of ATTEMPT_KINDS) this.#attempts.add(0, { ...this.#labels, result: kind });
  }

  attempted({ kind, durationMs, delayMs }: AttemptNote): void {
    this.#attempts.add(1, { ...this.#labels, result: kind });
    this.#duration.record(durationMs / 1000, this.#labels);
    if (delayMs !== null) this.#delay.record(delayMs / 1000, this.#labels);
  }

  paused(endpoints: number): void {
    this.#paused.add(endpoints, this.#labels);
  }

  /** @returns a function that ends the observation */
  observe(stats: () => DeliveryStats, underWay: () => number): () => void {
    const gauge = (name: string, description: string, read: () => number): (() => void) =>
      this.#meter.gauge(`webhook_${name}`, { description, labelNames: LABEL_NAMES }, read, this.#labels);
    const ends = [
      gauge('pending_deliveries', 'Deliveries that are queued or in progress.', () => stats().pending),
      gauge(
        'overdue_seconds',
        'Time by which the oldest delivery to an active endpoint is overdue.',
        () => stats().overdueMs / 1000,
      ),
      gauge('attempts_under_way', 'Attempts that are in progress or not yet recorded.', underWay),
    ];
    return () => {
      for (const end of ends) end();
    };
  }
}
