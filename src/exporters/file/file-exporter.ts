import { ConsumeError } from '../../component/consume-error.js';
import type { Consumer, Receipt } from '../../component/consumer.js';
import type { Exporter, Outputs, Settings } from '../../component/factory.js';
import { durationMs } from '../../config/duration.js';
import { isOpenToOthers } from '../../config/private-path.js';
import { sizeBytes } from '../../config/size.js';
import { encodeJson } from '../../otlp/encode/json.js';
import { encodeRequest } from '../../otlp/encode/request.js';
import { TELEMETRY_SIGNALS, type Batches, type Signal, type TelemetrySignal } from '../../signal/batch.js';
import type { FileConfig } from './config.js';
import { codeOf, LineFile } from './line-file.js';

/** Exporter `file`: see README.md. */
export class FileExporter implements Exporter {
  readonly inputs: Outputs;
  readonly #settings: Settings<FileConfig>;
  readonly #file: LineFile;
  readonly #flushMs: number;
  /** The last operation on the file: operations run one after another. */
  #last: Promise<void> = Promise.resolve();
  #cancelFlush: (() => void) | undefined;

  constructor(settings: Settings<FileConfig>) {
    const { config, clock } = settings;
    this.#settings = settings;
    this.#flushMs = durationMs(config.flush_interval);
    this.#file = new LineFile({
      path: config.path,
      append: config.append,
      maxSize: sizeBytes(config.rotation.max_size),
      maxBackups: config.rotation.max_backups,
      clock,
    });
    this.inputs = {
      ...Object.fromEntries(TELEMETRY_SIGNALS.map((signal) => [signal, this.#telemetry(signal)])),
      events: this.#input<'events'>(({ items }) => items.map(({ body }) => body).join('\n')),
    };
  }

  /** @throws Error if the file cannot be opened */
  async start(): Promise<void> {
    const { config, logger } = this.#settings;
    try {
      await this.#file.open();
      // An existing file keeps its mode, since others may be meant to read it; a new file is private.
      if (isOpenToOthers(config.path))
        logger.warn(
          { path: config.path },
          'Other users may read or write this file; prevent that with chmod 600',
        );
    } catch (cause) {
      throw new Error(`cannot write ${this.#settings.config.path}: ${codeOf(cause)}`, { cause });
    }
  }

  async shutdown(): Promise<void> {
    this.#cancelFlush?.();
    await this.#afterOthers(() => this.#file.close());
  }

  #telemetry<S extends TelemetrySignal>(signal: S): Consumer<Batches[S]> {
    return this.#input<S>((batch) => encodeJson(encodeRequest(signal, batch)));
  }

  /** @param print serializes a batch to lines, without the last line end */
  #input<S extends Signal>(print: (batch: Batches[S]) => string): Consumer<Batches[S]> {
    return {
      consume: async (batch): Promise<Receipt> => {
        const accepted = batch.items.length;
        const lines = print(batch);
        try {
          await this.#afterOthers(() => this.#file.write(lines));
        } catch (cause) {
          throw new ConsumeError(`cannot write ${this.#settings.config.path}: ${codeOf(cause)}`, {
            code: 'storage_unavailable',
            retryable: true,
            cause,
          });
        }
        this.#flushLater();
        return { accepted, refused: [] };
      },
    };
  }

  #flushLater(): void {
    if (this.#flushMs === 0 || this.#cancelFlush) return;
    this.#cancelFlush = this.#settings.clock.after(this.#flushMs, () => {
      this.#cancelFlush = undefined;
      this.#afterOthers(() => this.#file.flush()).catch((error: unknown) => {
        this.#settings.logger.error({ err: error }, 'fsync failed; recent data may be lost. Check the disk.');
      });
    });
  }

  async #afterOthers(work: () => Promise<void>): Promise<void> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }
}
