import { ConsumeError } from '../../component/consume-error.js';
import type { ConsumeContext, Consumer, Receipt, Refusal } from '../../component/consumer.js';
import type { Counter, Labels, Logger, Meter } from '../../component/telemetry.js';
import type { EventsBatch } from '../../signal/batch.js';
import type { EventRecord } from '../../signal/event.js';

/** Passes batches to the pipelines. Permanently refused events are skipped, so that they do not block later ones. */
export class Handover {
  readonly #next: Consumer<EventsBatch>;
  readonly #logger: Logger;
  readonly #passedOver: Counter;
  readonly #labels: Labels;

  /** @param id of the receiver */
  constructor(id: string, next: Consumer<EventsBatch>, logger: Logger, meter: Meter) {
    this.#next = next;
    this.#logger = logger;
    this.#labels = { receiver: id };
    this.#passedOver = meter.counter('outbox_passed_over_events_total', {
      description: 'Events skipped because the pipelines refused them permanently.',
      labelNames: ['receiver', 'reason'],
    });
    for (const reason of ['refused', 'permanent'] as const) this.#count(0, reason);
  }

  /**
   * Resolves when the batch is accepted or skipped. The caller keeps the batch, and may pass it again after a failure.
   *
   * @throws any error that is retryable
   */
  async give(batch: EventsBatch, context: ConsumeContext): Promise<void> {
    let receipt: Receipt;
    try {
      // The consumer may change the list, and the next attempt needs it unchanged.
      receipt = await this.#next.consume({ ...batch, items: [...batch.items] }, context);
    } catch (error) {
      if (!(error instanceof ConsumeError) || error.retryable) throw error;
      this.#count(batch.items.length, 'permanent');
      this.#logger.error(
        { err: error, tenant: batch.tenant, ...named(batch.items) },
        'Skipped events that were permanently refused; see the error and the log of the pipeline',
      );
      return;
    }
    this.#noteRefused(batch, receipt.refused);
  }

  #noteRefused({ tenant, items }: EventsBatch, refused: readonly Refusal[]): void {
    if (refused.length === 0) return;
    this.#count(refused.length, 'refused');
    const events = refused.flatMap(({ index }) => items[index] ?? []);
    this.#logger.warn(
      { tenant, ...named(events), reasons: [...new Set(refused.map(({ reason }) => reason))] },
      'Skipped refused events',
    );
  }

  #count(events: number, reason: 'refused' | 'permanent'): void {
    this.#passedOver.add(events, { ...this.#labels, reason });
  }
}

/** Log fields of events: no bodies, which contain users' data. */
function named(events: readonly EventRecord[]) {
  return { events: events.map(({ id }) => id), types: [...new Set(events.map(({ type }) => type))] };
}
