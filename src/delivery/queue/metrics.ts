import type { QueueStats } from '../../component/daemon-view.js';
import type { Counter, Labels, Meter } from '../../component/telemetry.js';
import type { Amount } from '../../signal/amount.js';
import { CONTENTS, type Signal } from '../../signal/batch.js';
import type { DropReason } from './delivery-error.js';
import type { DeliveryOptions } from './config.js';
import type { DeadReason } from './disk/dead-letters.js';
import type { Damage } from './disk/segment.js';

/** Counts items and their contents. */
type AmountCounter = (amount: Amount, more?: Labels) => void;

/** Metrics of a queue on disk. */
interface DiskCounters {
  readonly dead: AmountCounter;
  readonly lost: AmountCounter;
  readonly failures: Counter;
  readonly damagedBytes: Counter;
  readonly damagedRecords: Counter;
}

const NOTHING: Amount = { items: 0, contents: 0 };

/**
 * The metrics of a queued exporter, listed in `exporters/otlp-http/README.md`. When nothing is in progress, the items that
 * entered the queue = sent + dropped (except `queue_full`) + dead letters + lost.
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
    }: { readonly waiting: () => QueueStats & Amount; readonly isStalled: () => boolean },
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
    this.#refused = amounts('queue_refused', 'refused because the queue was full.');
    this.#dropped = amounts('dropped', 'dropped, by reason.', ['reason']);
    this.#sent = amounts('sent', 'delivered.');
    this.#failed = counter('attempts_failed', 'Failed attempts to deliver a batch.');
    this.#retries = counter('retries', 'Failed attempts that are retried.');
    this.#gauges = [
      gauge('items', 'Items queued or being sent.', () => waiting().items),
      gauge('bytes', 'Bytes in the queue: memory (approximate) or disk.', () => waiting().bytes),
      gauge(
        'max_bytes',
        'Maximum bytes in the queue; on disk, of all signals together.',
        () => waiting().maxBytes,
      ),
    ];
    if (contents !== null)
      this.#gauges.push(
        gauge(contents.name, `${contents.words} queued or being sent.`, () => waiting().contents),
      );
    this.#gauges.push(
      meter.gauge(
        'exporter_stalled',
        {
          description: '1 if queued items are not being delivered, otherwise 0.',
          labelNames,
        },
        () => (isStalled() ? 1 : 0),
        labels,
      ),
    );
    if (disk === null)
      this.#gauges.push(gauge('max_items', 'Maximum number of queued items.', () => maxItems));
    this.#disk =
      disk === null
        ? null
        : {
            dead: amounts('dead_letter', 'stored as dead letters, by reason.', ['reason']),
            lost: amounts('queue_lost', 'in damaged records, if their number is known.'),
            failures: counter('queue_disk_failures', 'Disk failures of the queue.'),
            damagedBytes: counter('queue_damaged_bytes', 'Damaged bytes of the queue.'),
            damagedRecords: counter(
              'queue_damaged_records',
              'Damaged records of the queue, at least one for each damaged part.',
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

/** Queued amounts with their limits. */
export function queueStats(
  { items, bytes }: { readonly items: number; readonly bytes: number },
  { disk, queue }: DeliveryOptions,
): QueueStats {
  return disk === null
    ? { items, bytes, maxItems: queue.maxItems, maxBytes: queue.maxBytes }
    : { items, bytes, maxItems: null, maxBytes: disk.maxBytes };
}
