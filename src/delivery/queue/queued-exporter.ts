import type { Consumer, Receipt } from '../../component/consumer.js';
import type { Exporter, Outputs, Settings } from '../../component/factory.js';
import type { Host } from '../../component/host.js';
import { SIGNALS, type Batch, type Signal } from '../../signal/batch.js';
import { deliveryOptions } from './config.js';
import { Delivery } from './delivery.js';

/**
 * A queued exporter with the engine's delivery chain around each of its inputs. The pipeline decides what happens to a batch when
 * a queue is full: {@link shelter} drops it, {@link expose} refuses it to the sender.
 */
export class QueuedExporter implements Exporter {
  readonly inputs: Outputs;
  readonly #exporter: Exporter;
  readonly #deliveries = new Map<Signal, Delivery>();

  /** @throws Error where the configuration lacks the keys of `deliveryKeys()` */
  constructor(exporter: Exporter, settings: Settings<Readonly<Record<string, unknown>>>) {
    const { id, logger, meter, clock } = settings;
    const options = deliveryOptions(settings.config);
    this.#exporter = exporter;
    for (const signal of SIGNALS) {
      const input: Consumer<Batch<unknown>> | undefined = exporter.inputs[signal];
      if (input)
        this.#deliveries.set(
          signal,
          new Delivery(input, { exporter: id, signal, options, logger, meter, clock }),
        );
    }
    this.inputs = Object.fromEntries(this.#deliveries);
  }

  /**
   * The input for a pipeline that also has a direct exporter: takes every batch, and drops it where the queue is full.
   *
   * @param input the way to this exporter's input for the signal
   */
  shelter(signal: Signal, input: Consumer<Batch<unknown>>): Consumer<Batch<unknown>> {
    const delivery = this.#deliveries.get(signal);
    return onFailure(input, (count, error) => {
      delivery?.noteDropped(count, error);
      return { accepted: count, refused: [] };
    });
  }

  /**
   * The input for a pipeline of queued exporters only: a full queue fails the batch, which may be sent again.
   *
   * @param input the way to this exporter's input for the signal
   */
  expose(signal: Signal, input: Consumer<Batch<unknown>>): Consumer<Batch<unknown>> {
    const delivery = this.#deliveries.get(signal);
    return onFailure(input, (count, error) => {
      delivery?.noteRefused(count);
      throw error;
    });
  }

  /**
   * For a pipeline of several queued exporters: asked of each before any is given a batch, so that a batch that one of
   * them refuses does not come twice to the others. Synchronous.
   *
   * @throws ConsumeError `overloaded` where the queue for the signal has no room; counts the batch as refused
   */
  assertRoom(signal: Signal, batch: Batch<unknown>): void {
    const delivery = this.#deliveries.get(signal);
    if (!delivery || delivery.hasRoomFor(batch)) return;
    delivery.noteRefused(batch.items.length);
    throw delivery.refusal();
  }

  async start(host: Host): Promise<void> {
    await this.#exporter.start?.(host);
  }

  /** Empties the queues, then stops the exporter. */
  async shutdown(deadline: AbortSignal): Promise<void> {
    await Promise.all([...this.#deliveries.values()].map((delivery) => delivery.drain(deadline)));
    await this.#exporter.shutdown?.(deadline);
  }
}

/** @param settle what happens to a batch of so many items that was not taken */
function onFailure(
  input: Consumer<Batch<unknown>>,
  settle: (count: number, error: unknown) => Receipt,
): Consumer<Batch<unknown>> {
  return {
    async consume(batch, context) {
      // Counted before the call: the batch belongs to the consumer afterwards.
      const count = batch.items.length;
      try {
        return await input.consume(batch, context);
      } catch (error) {
        return settle(count, error);
      }
    },
  };
}
