import type { QueueFigures } from '../../component/daemon-view.js';
import type { Counter, Labels, Meter } from '../../component/telemetry.js';
import type { Amount } from '../../signal/amount.js';
import { CONTENTS, type Signal } from '../../signal/batch.js';
import type { DropReason } from './delivery-error.js';
import type { DeliveryOptions } from './config.js';
import type { DeadReason } from './disk/dead-letters.js';
import type { Damage } from './disk/segment.js';

/** Counts items, and what these hold. */
type AmountCounter = (amount: Amount, more?: Labels) => void;

/** What is counted of a queue on disk. */
interface DiskCounters {
  readonly dead: AmountCounter;
  readonly lost: AmountCounter;
  readonly failures: Counter;
  readonly damagedBytes: Counter;
  readonly damagedRecords: Counter;
}

const NOTHING: Amount = { items: 0, contents: 0 };

/**
 * The metrics of a queued exporter, beside those of its edge (`pipeline/instrument.ts`), each with the labels `exporter`
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
 * - `jackdaw_exporter_queue_damaged_bytes_total`: passed over because they cannot be read,
 *   `jackdaw_exporter_queue_damaged_records_total`: records among them, at least one at each place, and
 *   `jackdaw_exporter_queue_lost_items_total`: items of these, as far as that can be told.
 *
 * Whatever counts `items` also counts `spans`, `metric_points` or `log_records`: `jackdaw_exporter_sent_spans_total`.
 *
 * Once nothing is under way, the items that came into the queue = sent + dropped (save `queue_full`) + dead + lost.
 */
export class DeliveryMetrics {
  readonly #labels: Labels;
  readonly #refused: AmountCounter;
  readonly #dropped: AmountCounter;
  readonly #sent: AmountCounter;
  readonly #failed: Counter;
  readonly #retries: Counter;
  readonly #disk: DiskCounters | null;
  readonly #gauges: (() => void)[];

  constructor(
    meter: Meter,
    labels: Labels & { readonly signal: Signal },
    {
      waiting,
      isStalled,
    }: { readonly waiting: () => QueueFigures & Amount; readonly isStalled: () => boolean },
    { disk, queue: { maxItems } }: DeliveryOptions,
  ) {
    this.#labels = labels;
    const labelNames = ['exporter', 'signal'];
    const counter = (name: string, description: string, more: readonly string[] = []) =>
      meter.counter(`exporter_${name}_total`, { description, labelNames: [...labelNames, ...more] });
    const gauge = (name: string, description: string, read: () => number) =>
      meter.gauge(`exporter_queue_${name}`, { description, labelNames }, read, labels);
    const contents = labels.signal === 'events' ? null : CONTENTS[labels.signal];
    const amounts = (name: string, rest: string, more: readonly string[] = []): AmountCounter => {
      const ofItems = counter(`${name}_items`, `Items ${rest}`, more);
      const ofContents =
        contents === null ? null : counter(`${name}_${contents.name}`, `${contents.words} ${rest}`, more);
      return ({ items, contents }, more) => {
        const all = { ...labels, ...more };
        ofItems.add(items, all);
        ofContents?.add(contents, all);
      };
    };
    this.#refused = amounts('queue_refused', 'refused to the sender because the queue was full.');
    this.#dropped = amounts('dropped', 'that were given up, by reason.', ['reason']);
    this.#sent = amounts('sent', 'delivered.');
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
    if (contents !== null)
      this.#gauges.push(
        gauge(contents.name, `${contents.words} that wait or are being sent.`, () => waiting().contents),
      );
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
            dead: amounts('dead_letter', 'that became dead letters, by reason.', ['reason']),
            lost: amounts('queue_lost', 'in damaged records, as far as that can be told.'),
            failures: counter('queue_disk_failures', 'Times that the disk of the queue failed.'),
            damagedBytes: counter('queue_damaged_bytes', 'Bytes of the queue that cannot be read.'),
            damagedRecords: counter(
              'queue_damaged_records',
              'Records of the queue that cannot be read, at least one for each damaged place.',
            ),
          };
    // A series that exists from the start shows a rate at its first increase.
    if (this.#disk !== null) {
      const { dead, lost, ...others } = this.#disk;
      for (const one of Object.values(others)) one.add(0, labels);
      lost(NOTHING);
      for (const reason of ['refused', 'items_refused', 'too_old', 'too_often'] as const)
        dead(NOTHING, { reason });
    }
    for (const one of [this.#failed, this.#retries]) one.add(0, labels);
    for (const one of [this.#refused, this.#sent]) one(NOTHING);
    for (const reason of ['queue_full', 'permanent', 'retries_exhausted', 'shutdown'] as const)
      this.dropped(NOTHING, reason);
  }

  refused(amount: Amount): void {
    this.#refused(amount);
  }

  dropped(amount: Amount, reason: DropReason | 'queue_full'): void {
    this.#dropped(amount, { reason });
  }

  sent(amount: Amount): void {
    this.#sent(amount);
  }

  failed(willRetry: boolean): void {
    this.#failed.add(1, this.#labels);
    if (willRetry) this.#retries.add(1, this.#labels);
  }

  /** Items that became a dead letter. */
  dead(amount: Amount, reason: DeadReason): void {
    this.#disk?.dead(amount, { reason });
  }

  diskFailed(): void {
    this.#disk?.failures.add(1, this.#labels);
  }

  damaged({ bytes, records, lost }: Damage): void {
    this.#disk?.damagedBytes.add(bytes, this.#labels);
    this.#disk?.damagedRecords.add(records, this.#labels);
    this.#disk?.lost(lost);
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
