import type { ExporterFactory, Exporter, Outputs, Settings } from '../../component/factory.js';
import { SIGNALS, type Batches, type Signal } from '../../signal/batch.js';
import { debugConfig } from './config.js';
import type { Consumer, Receipt } from '../../component/consumer.js';
import { shorten } from '../../component/item-problems.js';
import { sizeBytes } from '../../config/size.js';
import type { DebugConfig } from './config.js';
import { summarize } from './summarize.js';
import { Sampler } from './sampler.js';
import { serializeJson } from '../../signal/json.js';

/** Exporter `debug`: see README.md. */
class DebugExporter implements Exporter {
  readonly inputs: Outputs;
  readonly #settings: Settings<DebugConfig>;
  readonly #sampler: Sampler;

  constructor(settings: Settings<DebugConfig>) {
    const { config } = settings;
    this.#settings = settings;
    this.#sampler = new Sampler(config.sampling_initial, config.sampling_thereafter);
    this.inputs = Object.fromEntries(SIGNALS.map((signal) => [signal, this.#input(signal)]));
  }

  #input<S extends Signal>(signal: S): Consumer<Batches[S]> {
    return {
      consume: async (batch): Promise<Receipt> => {
        if (this.#sampler.takes(this.#settings.clock.now())) this.#write(signal, batch);
        return { accepted: batch.items.length, refused: [] };
      },
    };
  }

  #write<S extends Signal>(signal: S, { tenant, items }: Batches[S]): void {
    const { config, logger } = this.#settings;
    logger.info({ signal, tenant, items: items.length }, `A batch of ${signal}`);
    if (config.verbosity === 'basic') return;
    for (const item of items.slice(0, config.max_items)) {
      const fields = summarize(signal, item);
      logger.info(
        config.verbosity === 'normal' ? fields : { ...fields, whole: this.#whole(item) },
        `An item of ${signal}`,
      );
    }
    const left = items.length - config.max_items;
    if (left > 0) logger.info({ signal }, `${left} more items are not shown (max_items)`);
  }

  #whole(item: object): string {
    return shorten(serializeJson(item), sizeBytes(this.#settings.config.max_item_size));
  }
}

export const debugExporter: ExporterFactory<typeof debugConfig> = {
  kind: 'exporter',
  type: 'debug',
  description: 'Writes all data to the daemon’s own log, for setting up a pipeline.',
  stability: 'beta',
  signals: SIGNALS,
  configSchema: debugConfig,
  delivery: 'direct',
  create: (settings) => new DebugExporter(settings),
};
