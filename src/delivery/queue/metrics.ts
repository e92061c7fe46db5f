import type { QueueFigures } from '../../component/daemon-view.js';
import type { Counter, Labels, Meter } from '../../component/telemetry.js';
import type { DropReason } from './delivery-error.js';
import type { DeliveryOptions } from './config.js';
import type { DeadReason } from './disk/dead-letters.js';

/** What is counted of a queue on disk. */
interface DiskCounters {
  readonly dead: Counter;
  readonly failures: Counter;
  readonly damaged: Counter;
  readonly lost: Counter;
}

/**
 * The metrics of a queued exporter, beside those of its edge (`pipeline/observe.ts`), each with the labels `exporter`
 * and `signal`. An item is a trace with its spans, a metric point or a log record.
 *
 * - `jackdaw_exporter_queue_items`, `…_queue_bytes`: what waits or is under way, now; bytes are an estimate.
 * - `jackdaw_exporter_queue_max_items`, `…_queue_max_bytes`: the limits.
 * - `jackdaw_exporter_stalled`: 1 while nothing is delivered although something is to be sent.
 * - `jackdaw_exporter_queue_refused_items_total`: refused to the sender with 503 because the queue was full.
 * - `jackdaw_exporter_dropped_items_total`, also by `reason`: `queue_full` (beside a direct exporter), `permanent` (can
 *   never be delivered), `retries_exhausted`, `shutdown` (the time for stopping was over).
 * - `jackdaw_exporter_sent_items_total`: delivered.
 * - `jackdaw_exporter_attempts_failed_total`: attempts that failed, and `jackdaw_exporter_retries_total`: those after
 *   which the batch was to be sent again.
 *
 * With a queue on disk also:
 *
 * - `jackdaw_exporter_dead_letter_items_total`, also by `reason`: `refused`, `items_refused`, `too_old`, `too_often`.
 * - `jackdaw_exporter_queue_disk_failures_total`: times that the disk failed.
 * - `jackdaw_exporter_queue_damaged_bytes_total`: passed over because they cannot be read, and
 *   `jackdaw_exporter_queue_lost_items_total`: items among them, as far as that can be told.
 *
 * Once nothing is under way, the items that came into the queue = sent + dropped (save `queue_full`) + dead + lost.
 */
export class DeliveryMetrics {
  readonly #labels: Labels;
  readonly #refused: Counter;
  readonly #dropped: Counter;
  readonly #sent: Counter;
  readonly #failed: Counter;
  readonly #retries: Counter;
  readonly #disk: DiskCounters | null;
  readonly #gauges: (() => void)[];

  constructor(
    meter: Meter,
    labels: Labels,
    { waiting, isStalled }: { readonly waiting: () => QueueFigures; readonly isStalled: () => boolean },
    { disk, queue: { maxItems } }: DeliveryOptions,
  ) {
    this.#labels = labels;
    const labelNames = ['exporter', 'signal'];
    const counter = (name: string, description: string, more: readonly string[] = []) =>
      meter.counter(`exporter_${name}_total`, { description, labelNames: [...labelNames, ...more] });
    const gauge = (name: string, description: string, read: () => number) =>
      meter.gauge(`exporter_queue_${name}`, { description, labelNames }, read, labels);
    this.#refused = counter('queue_refused_items', 'Items refused to the sender because the queue was full.');
    this.#dropped = counter('dropped_items', 'Items that were given up, by reason.', ['reason']);
    this.#sent = counter('sent_items', 'Items delivered.');
    this.#failed = counter('attempts_failed', 'Failed attempts to deliver a batch.');
    this.#retries = counter('retries', 'Failed attempts after which the batch was to be sent again.');
    this.#gauges = [
      gauge('items', 'Items that wait or are being sent.', () => waiting().items),
      gauge('bytes', 'What they take, of memory (roughly) or of the disk.', () => waiting().bytes),
      gauge(
        'max_bytes',
        'What they may take; on disk those of all signals together.',
        () => waiting().maxBytes,
      ),
    ];
    this.#gauges.push(
      meter.gauge(
        'exporter_stalled',
        {
          description: 'Whether nothing is delivered although something is to be sent: 1, otherwise 0.',
          labelNames,
        },
        () => (isStalled() ? 1 : 0),
        labels,
      ),
    );
    if (disk === null) this.#gauges.push(gauge('max_items', 'Items that may wait.', () => maxItems));
    this.#disk =
      disk === null
        ? null
        : {
            dead: counter('dead_letter_items', 'Items that became dead letters, by reason.', ['reason']),
            failures: counter('queue_disk_failures', 'Times that the disk of the queue failed.'),
            damaged: counter('queue_damaged_bytes', 'Bytes of the queue that cannot be read.'),
            lost: counter('queue_lost_items', 'Items among them, as far as that can be told.'),
          };
    if (this.#disk !== null) {
      const { dead, ...others } = this.#disk;
      for (const one of Object.values(others)) one.add(0, labels);
      for (const reason of ['refused', 'items_refused', 'too_old', 'too_often'] as const)
        dead.add(0, { ...labels, reason });
    }
    // A series that exists from the start shows a rate at its first increase.
    for (const one of [this.#refused, this.#sent, this.#failed, this.#retries]) one.add(0, labels);
    for (const reason of ['queue_full', 'permanent', 'retries_exhausted', 'shutdown'] as const)
      this.dropped(0, reason);
  }

  refused(items: number): void {
    this.#refused.add(items, this.#labels);
  }

  dropped(items: number, reason: DropReason | 'queue_full'): void {
    this.#dropped.add(items, { ...this.#labels, reason });
  }

  sent(items: number): void {
    this.#sent.add(items, this.#labels);
  }

  failed(willRetry: boolean): void {
    this.#failed.add(1, this.#labels);
    if (willRetry) this.#retries.add(1, this.#labels);
  }

  /** Items that became a dead letter. */
  dead(items: number, reason: DeadReason): void {
    this.#disk?.dead.add(items, { ...this.#labels, reason });
  }

  diskFailed(): void {
    this.#disk?.failures.add(1, this.#labels);
  }

  damaged(bytes: number, items: number): void {
    this.#disk?.damaged.add(bytes, this.#labels);
    this.#disk?.lost.add(items, this.#labels);
  }

  /** Ends the gauges. */
  end(): void {
    for (const end of this.#gauges) end();
  }
}

/** What waits in a queue, beside its limits. */
export function queueFigures(
  { items, bytes }: { readonly items: number; readonly bytes: number },
  { disk, queue }: DeliveryOptions,
): QueueFigures {
  return disk === null
    ? { items, bytes, maxItems: queue.maxItems, maxBytes: queue.maxBytes }
    : { items, bytes, maxItems: null, maxBytes: disk.maxBytes };
}
