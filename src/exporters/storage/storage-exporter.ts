import type { ConsumeContext, Receipt } from '../../component/consumer.js';
import { ConsumeError } from '../../component/consume-error.js';
import type { Exporter, Outputs } from '../../component/factory.js';
import type { Host } from '../../component/host.js';
import type { Batch } from '../../signal/batch.js';
import { isTelemetryPlane, type TelemetryPlane } from '../../storage/telemetry-plane.js';

/** Exporter `storage`: see README.md. */
export class StorageExporter implements Exporter {
  readonly inputs: Outputs;
  readonly #storeId: string;
  #store: TelemetryPlane | undefined;
  readonly #seen = new WeakSet();

  constructor(storeId: string) {
    this.#storeId = storeId;
    this.inputs = {
      traces: {
        consume: async (batch, context) =>
          released(batch, this.#open().writer.traces(batch, this.#firstOf(context))),
      },
      metrics: {
        consume: async (batch, context) =>
          released(batch, this.#open().writer.metrics(batch, this.#firstOf(context))),
      },
      logs: {
        consume: async (batch, context) =>
          released(batch, this.#open().writer.logs(batch, this.#firstOf(context))),
      },
    };
  }

  /** @throws Error when there is no such store. */
  async start(host: Host): Promise<void> {
    this.#store = host.extension(this.#storeId, isTelemetryPlane);
  }

  /**
   * A name holds for one call: where a component passes a batch on in parts and leaves the name with each, the others would be
   * taken for repeats of the first.
   */
  #firstOf(context: ConsumeContext): ConsumeContext {
    const { batch, ...others } = context;
    if (batch === undefined) return context;
    if (this.#seen.has(batch)) return others;
    this.#seen.add(batch);
    return context;
  }

  #open(): TelemetryPlane {
    if (this.#store) return this.#store;
    throw new ConsumeError('the storage exporter was not started', {
      code: 'internal_error',
      retryable: true,
    });
  }
}

/**
 * Releases the records once the store has taken what it needs: kept until the commit, they would outlive several rounds of the
 * garbage collector, which then costs a quarter of the time of ingestion.
 */
async function released(batch: Batch<unknown>, written: Promise<Receipt>): Promise<Receipt> {
  batch.items.length = 0;
  return await written;
}
