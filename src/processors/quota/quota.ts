import type { Component } from '../../component/component.js';
import { ConsumeError } from '../../component/consume-error.js';
import type { ConsumeContext, Consumer, QuotaUsage, Receipt } from '../../component/consumer.js';
import type { Settings } from '../../component/factory.js';
import type { Host } from '../../component/host.js';
import type { Batch, TelemetrySignal } from '../../signal/batch.js';
import { MICROS_PER_SECOND } from '../../signal/time-units.js';
import { isControlStore } from '../../storage/contracts/control-store.js';
import { InvalidatedCache } from '../../storage/shared/invalidated-cache.js';
import { monthOf, smallest, startOfMonth } from '../../storage/contracts/telemetry-writer.js';
import { keepPublished, publisherName } from '../../storage/shared/publish-settings.js';
import { quotaExceeded } from '../../storage/contracts/errors.js';
import {
  hasParts,
  isPartialTelemetryStore,
  type TelemetryStore,
} from '../../storage/contracts/telemetry-store.js';
import { COUNTABLE, type QuotaConfig } from './config.js';

/**
 * Minimum number of items that a batch counts if the store accepts any of it. Spans: 0, because only the store can detect repeats.
 * Log records: all, since none is deduplicated. Points: 1, because single points may be refused, and a batch without accepted points
 * is not stored.
 */
const CERTAIN_ITEMS: Readonly<Record<TelemetrySignal, (items: number) => number>> = {
  traces: () => 0,
  metrics: (items) => Math.min(items, 1),
  logs: (items) => items,
};

/** Maximum number of users with a cached quota state. Entries expire, because a limit may be raised without notice. */
const REMEMBERED = 10_000;
const REMEMBERED_FOR = 5 * MICROS_PER_SECOND;

/** Processor `quota` in a pipeline of one signal: see README.md. */
export class Quota<B extends Batch<unknown>> implements Component, Consumer<B> {
  readonly #settings: Settings<QuotaConfig>;
  readonly #next: Consumer<B>;
  readonly #isCharged: boolean;
  readonly #certainItems: (items: number) => number;
  /** The last known quota usage of users, unless limits may have changed since. */
  #standings: InvalidatedCache<QuotaUsage> | undefined;
  #withdraw: (() => Promise<void>) | undefined;
  #endWatch = (): void => undefined;
  /** In a copy: called when limits may have changed. */
  #onHint = (): void => undefined;

  constructor(signal: TelemetrySignal, settings: Settings<QuotaConfig> & { readonly next: Consumer<B> }) {
    this.#settings = settings;
    this.#next = settings.next;
    this.#isCharged = settings.config.count.some((kind) => COUNTABLE[kind] === signal);
    this.#certainItems = CERTAIN_ITEMS[signal];
  }

  /** @throws Error if there is no such store. */
  async start(host: Host): Promise<void> {
    const { id, config, clock, logger } = this.#settings;
    const telemetry = host.extension(config.store, countsItems);
    const control = host.extension(config.control, isControlStore);
    if (!this.#isCharged) return;
    this.#standings = new InvalidatedCache(REMEMBERED, clock, control.watch, ['keys'], REMEMBERED_FOR);
    this.#endWatch = control.watch.watch('keys', () => {
      host.copies?.send({});
    });
    const store = await telemetry.identity();
    const quota = { store, monthly_events: config.monthly_events };
    const owner = publisherName(id, store, telemetry);
    this.#withdraw = await keepPublished(control.settings, { quota }, { owner, clock, logger });
  }

  /** A copy learns the usage of users from receipts, too, and gets the hints from the component on the main thread. */
  startCopy(): void {
    if (!this.#isCharged) return;
    const watch = {
      watch: (_topic: string, hint: () => void) => {
        this.#onHint = hint;
        return () => undefined;
      },
    };
    const { clock } = this.#settings;
    this.#standings = new InvalidatedCache(REMEMBERED, clock, watch, ['keys'], REMEMBERED_FOR);
  }

  onMessage(): void {
    this.#onHint();
  }

  async shutdown(): Promise<void> {
    this.#endWatch();
    this.#standings?.close();
    await this.#withdraw?.();
    this.#withdraw = undefined;
  }

  /** @throws ConsumeError `quota_exceeded` if the store would certainly refuse the batch */
  async consume(batch: B, context: ConsumeContext): Promise<Receipt> {
    if (!this.#isCharged) return this.#next.consume(batch, context);
    this.#refuseWhatIsCertain(batch, context);
    // Of several quota processors, the smallest limit applies.
    const monthly_items = smallest([batch.quota?.monthly_items ?? 0, this.#settings.config.monthly_events]);
    const note = this.#standings?.asking();
    const { tenant } = batch;
    // Not awaited here: this call would hold the batch until the answer.
    return this.#next.consume({ ...batch, quota: { monthly_items: monthly_items ?? 0 } }, context).then(
      (receipt) => {
        if (receipt.usage) note?.(tenant, receipt.usage);
        return receipt;
      },
      (error: unknown) => {
        if (error instanceof ConsumeError && error.usage) note?.(tenant, error.usage);
        throw error;
      },
    );
  }

  #refuseWhatIsCertain({ tenant, items }: B, { receivedAt }: ConsumeContext): void {
    const certain = this.#certainItems(items.length);
    if (certain === 0) return;
    const usage = this.#standings?.known(tenant);
    // A count never decreases within its month.
    if (usage === undefined || usage.resets_at !== startOfMonth(monthOf(receivedAt) + 1)) return;
    if (usage.used + certain > usage.limit) throw quotaExceeded(usage, certain, receivedAt);
  }
}

/** Whether a store counts the new items of a batch, so that it can enforce a limit. */
function countsItems(
  candidate: unknown,
): candidate is Pick<TelemetryStore, 'identity' | 'usage' | 'isShared'> {
  return isPartialTelemetryStore(candidate) && hasParts(candidate, ['identity', 'usage']);
}
