import type { ConsumeContext, Receipt } from '../../component/consumer.js';
import { ConsumeError } from '../../component/consume-error.js';
import type { Exporter, Outputs } from '../../component/factory.js';
import type { Host } from '../../component/host.js';
import { TELEMETRY_SIGNALS, type Batch, type TelemetrySignal } from '../../signal/batch.js';
import { isTelemetryStore } from '../../storage/contracts/telemetry-plane.js';
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
          released(batch, this.#taking('traces').traces(batch, this.#firstOf(context))),
      },
      metrics: {
        consume: async (batch, context) =>
          released(batch, this.#taking('metrics').metrics(batch, this.#firstOf(context))),
      },
      logs: {
        consume: async (batch, context) =>
          released(batch, this.#taking('logs').logs(batch, this.#firstOf(context))),
      },
    };
  }

  /** @throws Error when there is no such store, or it does not take what the pipelines lead here. */
  async start(host: Host): Promise<void> {
    const { writer } = host.extension(this.#storeId, isTelemetryStore);
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
 * Releases the records once the store has taken what it needs: kept until the commit, they would outlive several rounds of the
 * garbage collector, which then costs a quarter of the time of ingestion.
 */
async function released(batch: Batch<unknown>, written: Promise<Receipt>): Promise<Receipt> {
  batch.items.length = 0;
  return await written;
}
