import type { ConsumeContext, Receipt } from '../../component/consumer.js';
import { ConsumeError } from '../../component/consume-error.js';
import type { Exporter, Outputs } from '../../component/factory.js';
import type { Host } from '../../component/host.js';
import type { Original } from '../../component/intake.js';
import { TELEMETRY_SIGNALS, type Batch, type TelemetrySignal } from '../../signal/batch.js';
import { isPartialTelemetryStore } from '../../storage/contracts/telemetry-store.js';
import {
  takesEncoded,
  type EncodedBatch,
  type EncodedWrites,
  type TelemetryWriter,
  type WriteEncoder,
} from '../../storage/contracts/telemetry-writer.js';
import { RowEncoder } from '../../storage/clickhouse/row-encoder.js';
import { BatchEncoder } from '../../storage/duckdb/write/batch-encoder.js';

/** Records of a batch that are copied for listeners; further ones are only counted. */
const MOST_SHOWN_LOGS = 1000;

/** From a copy: a batch to write. */
interface EncodedWrite {
  readonly signal: TelemetrySignal;
  readonly batch: EncodedBatch;
  readonly context: ConsumeContext;
}

/** To the copies. */
interface CopyState {
  readonly engine: EncodedWrites['engine'];
  readonly logUsers: readonly string[];
}

const ENCODERS: Readonly<Record<EncodedWrites['engine'], new () => WriteEncoder>> = {
  duckdb: BatchEncoder,
  clickhouse: RowEncoder,
};

/** Exporter `storage`: see README.md. */
export class StorageExporter implements Exporter {
  readonly inputs: Outputs;
  readonly #id: string;
  readonly #storeId: string;
  #writer: Partial<TelemetryWriter> | undefined;
  readonly #seen = new WeakSet();
  #encoded: EncodedWrites | undefined;
  /** In a copy. */
  #encoder: WriteEncoder | undefined;
  #endWatch = (): void => undefined;
  /** The users whose log records have listeners on the main thread. */
  #logUsers: ReadonlySet<string> = new Set();

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
    const store = host.extension(this.#storeId, isPartialTelemetryStore);
    const { writer } = store;
    for (const { name, signal, exporters } of host.daemon.pipelines) {
      if (signal === 'events' || !exporters.includes(this.#id) || takes(writer, signal)) continue;
      const taken = TELEMETRY_SIGNALS.filter((taken) => takes(writer, taken)).join(' and ');
      throw new Error(
        `Extension "${this.#storeId}" stores ${taken} but no ${signal}: use an exporter with another store in pipeline "${name}"`,
      );
    }
    this.#writer = writer;
    if (!takesEncoded(store)) return;
    this.#encoded = store.encodedWrites;
    this.#endWatch = this.#encoded.watchLogListeners((logUsers) => {
      this.#logUsers = new Set(logUsers);
      const state = this.stateForCopy();
      if (state !== undefined) host.copies?.send(state);
    });
  }

  async shutdown(): Promise<void> {
    this.#endWatch();
  }

  /** A copy encodes batches; the component on the main thread writes them. */
  startCopy(original: Original): void {
    const encoder = (): WriteEncoder => {
      if (this.#encoder === undefined) throw notStarted();
      return this.#encoder;
    };
    const send = async (
      signal: TelemetrySignal,
      batch: EncodedBatch,
      { receivedAt, batch: named, trail }: ConsumeContext,
    ): Promise<Receipt> =>
      original.call<Receipt>(
        { signal, batch, context: { receivedAt, ...(named && { batch: named }) } },
        batch.buffers,
        trail,
      );
    this.#writer = {
      traces: (batch, context) => send('traces', encoder().traces(batch, context), context),
      metrics: (batch, context) => send('metrics', encoder().metrics(batch, context), context),
      logs: (batch, context) => {
        const encoded = encoder().logs(batch, context);
        if (!this.#logUsers.has(batch.tenant)) return send('logs', encoded, context);
        const records = batch.items.slice(0, MOST_SHOWN_LOGS);
        const logs = { records, unseen: batch.items.length - records.length };
        return send('logs', { ...encoded, logs }, context);
      },
    };
  }

  stateForCopy(): CopyState | undefined {
    return this.#encoded && { engine: this.#encoded.engine, logUsers: [...this.#logUsers] };
  }

  onMessage(message: object): void {
    const { engine, logUsers } = message as CopyState;
    this.#encoder ??= new ENCODERS[engine]();
    this.#logUsers = new Set(logUsers);
  }

  async answerCopy(message: object): Promise<Receipt> {
    const { signal, batch, context } = message as EncodedWrite;
    const write = this.#encoded?.[signal];
    if (write === undefined) throw notStarted();
    return write(batch, context);
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
    throw notStarted();
  }
}

function notStarted(): ConsumeError {
  return new ConsumeError('the storage exporter was not started', {
    code: 'internal_error',
    retryable: true,
  });
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
