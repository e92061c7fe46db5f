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

  /** @throws Error when there is no such store, or it does not take what the pipelines lead here. */
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

  /** What takes a signal, which it does where a pipeline leads it here: {@link start} has looked. */
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
 * A store encodes a batch before it waits for anything, and holds it until the commit. It gets a list that is emptied in between:
 * items that live so long cost the garbage collector a tenth of the time of ingestion.
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
