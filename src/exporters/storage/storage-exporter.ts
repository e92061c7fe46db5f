import type { ConsumeContext, Receipt } from '../../component/consumer.js';
import { ConsumeError } from '../../component/consume-error.js';
import type { Exporter, Outputs } from '../../component/factory.js';
import type { Host } from '../../component/host.js';
import { TELEMETRY_SIGNALS, type Batch, type TelemetrySignal } from '../../signal/batch.js';
import { isPartialTelemetryStore } from '../../storage/contracts/telemetry-store.js';
import type { TelemetryWriter } from '../../storage/contracts/telemetry-writer.js';

/** Exporter `storage`: see README.md. */
export class StorageExporter implements Exporter {
  readonly inputs: Outputs;
  readonly #id: string;
  readonly #storeId: string;
  #writer: Partial<TelemetryWriter> | undefined;
  readonly #seen = new WeakSet();

  constructor(id: string, storeId: string) {
    this.#id = id;
    this.#storeId = storeId;
    this.inputs = {
      traces: {
        consume: async (batch, context) =>
          written(batch, (own) => this.#taking('traces').traces(own, this.#firstOf(context))),
      },
      metrics: {
        consume: async (batch, context) =>
          written(batch, (own) => this.#taking('metrics').metrics(own, this.#firstOf(context))),
      },
      logs: {
        consume: async (batch, context) =>
          written(batch, (own) => this.#taking('logs').logs(own, this.#firstOf(context))),
      },
    };
  }

  /** @throws Error if the store is missing, or does not store a signal of the pipelines that end here */
  async start(host: Host): Promise<void> {
    const { writer } = host.extension(this.#storeId, isPartialTelemetryStore);
    for (const { name, signal, exporters } of host.daemon.pipelines) {
      if (signal === 'events' || !exporters.includes(this.#id) || takes(writer, signal)) continue;
      const taken = TELEMETRY_SIGNALS.filter((taken) => takes(writer, taken)).join(' and ');
      throw new Error(
        `Extension "${this.#storeId}" stores ${taken} but no ${signal}: use an exporter with another store in pipeline "${name}"`,
      );
    }
    this.#writer = writer;
  }

  /**
    * Keeps a batch name on its first call only: if a component splits a batch and passes the name with each part, the store would
    * treat the other parts as repeats of the first.
   */
  #firstOf(context: ConsumeContext): ConsumeContext {
    const { batch, ...others } = context;
    if (batch === undefined) return context;
    if (this.#seen.has(batch)) return others;
    this.#seen.add(batch);
    return context;
  }

  /** The writer of a signal. It exists if a pipeline leads here: {@link start} has checked it. */
  #taking<S extends TelemetrySignal>(signal: S): Pick<TelemetryWriter, S> {
    const writer = this.#writer;
    if (writer !== undefined && takes(writer, signal)) return writer;
    throw new ConsumeError('the storage exporter was not started', {
      code: 'internal_error',
      retryable: true,
    });
  }
}

function takes<S extends TelemetrySignal>(
  writer: Partial<TelemetryWriter>,
  signal: S,
): writer is Partial<TelemetryWriter> & Pick<TelemetryWriter, S> {
  return writer[signal] !== undefined;
}

/**
  * A store encodes a batch synchronously and holds the batch until the commit. It gets a copy of the list, which is emptied once
  * encoded: long-lived items cost the garbage collector a tenth of the ingestion time.
 */
async function written<B extends Batch<unknown>>(
  batch: B,
  write: (own: B) => Promise<Receipt>,
): Promise<Receipt> {
  const own = { ...batch, items: [...batch.items] };
  const receipt = write(own);
  own.items.length = 0;
  return receipt;
}
