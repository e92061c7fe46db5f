import type { Counter, Histogram, Labels, Meter } from '../../component/telemetry.js';
import type { NotificationChannel, NotificationStatus } from '../../storage/contracts/alerts.js';

/** Seconds that an evaluation takes. */
const DURATIONS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const LABEL_NAMES = ['exporter'];
const CHANNELS: readonly NotificationChannel[] = ['email', 'webhook'];
/** Results of attempts; `pending` attempts are retried. */
const STATUSES: readonly NotificationStatus[] = ['sent', 'pending', 'failed', 'skipped'];

/** The metrics listed in README.md. */
export class AlertMetrics {
  readonly #labels: Labels;
  readonly #evaluated: Counter;
  readonly #duration: Histogram;
  readonly #fired: Counter;
  readonly #resolved: Counter;
  readonly #failures: Counter;
  readonly #notifications: Counter;

  constructor(meter: Meter, exporter: string) {
    const counter = (name: string, description: string, more: readonly string[] = []): Counter =>
      meter.counter(`alerts_${name}`, { description, labelNames: [...LABEL_NAMES, ...more] });
    this.#labels = { exporter };
    this.#evaluated = counter('evaluated_rules_total', 'Alert evaluations.');
    this.#duration = meter.histogram('alerts_evaluation_duration_seconds', {
      description: 'Time of one evaluation of all due alerts.',
      labelNames: LABEL_NAMES,
      buckets: DURATIONS,
    });
    this.#fired = counter('fired_total', 'Alerts that fired.');
    this.#resolved = counter('resolved_total', 'Alert incidents that ended.');
    this.#failures = counter('evaluation_failures_total', 'Evaluations that failed and are retried.');
    this.#notifications = counter(
      'notifications_total',
      'Attempts to send notices, by channel and result: sent, pending (retried), failed, skipped.',
      ['channel', 'status'],
    );
    // A series that exists from the start shows a rate at its first increase.
    for (const series of [this.#evaluated, this.#fired, this.#resolved, this.#failures])
      series.add(0, this.#labels);
    for (const channel of CHANNELS)
      for (const status of STATUSES) this.#notifications.add(0, { ...this.#labels, channel, status });
  }

  evaluated(rules: number, seconds: number): void {
    this.#evaluated.add(rules, this.#labels);
    this.#duration.record(seconds, this.#labels);
  }

  fired(count: number): void {
    this.#fired.add(count, this.#labels);
  }

  resolved(count: number): void {
    this.#resolved.add(count, this.#labels);
  }

  evaluationFailed(): void {
    this.#failures.add(1, this.#labels);
  }

  notified(channel: NotificationChannel, status: NotificationStatus): void {
    this.#notifications.add(1, { ...this.#labels, channel, status });
  }
}
