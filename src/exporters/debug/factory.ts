import type { ExporterFactory, Exporter, Outputs, Settings } from '../../component/factory.js';
import { SIGNALS, type Batches, type Signal } from '../../signal/batch.js';
import type { Consumer, Receipt } from '../../component/consumer.js';
import { shorten } from '../../component/item-problems.js';
import { sizeBytes } from '../../config/size.js';
import { serializeJson } from '../../signal/json.js';
import { Type, type Static } from 'typebox';
import { choice, section, size } from '../../config/schema.js';
import { type Micros, formatTime } from '../../signal/time.js';
import { MICROS_PER_SECOND } from '../../signal/time-units.js';

export const debugConfig = section({
  verbosity: choice(['basic', 'normal', 'detailed'], {
    default: 'basic',
    description:
      'Detail per batch: basic (one line), normal (a line per item, no payloads) or detailed (all fields).',
  }),
  sampling_initial: Type.Integer({
    default: 2,
    minimum: 0,
    description: 'Batches that are always written in each second.',
  }),
  sampling_thereafter: Type.Integer({
    default: 1,
    minimum: 0,
    description: 'Interval at which further batches of that second are written. 1: every batch. 0: none.',
  }),
  max_items: Type.Integer({
    default: 100,
    minimum: 1,
    description: 'Items of one batch that are written.',
  }),
  max_item_size: size({
    default: '16KiB',
    description: 'Characters of one item that verbosity detailed writes; the rest is cut.',
  }),
});

type DebugConfig = Static<typeof debugConfig>;

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

/** Passes the first batches of each second, then every nth. */
class Sampler {
  readonly #initial: number;
  readonly #thereafter: number;
  #second = -1;
  #seen = 0;

  constructor(initial: number, thereafter: number) {
    this.#initial = initial;
    this.#thereafter = thereafter;
  }

  takes(now: Micros): boolean {
    const second = Math.floor(now / MICROS_PER_SECOND);
    if (second !== this.#second) {
      this.#second = second;
      this.#seen = 0;
    }
    this.#seen += 1;
    const later = this.#seen - this.#initial;
    return later <= 0 || (this.#thereafter > 0 && later % this.#thereafter === 0);
  }
}

type Item<S extends Signal> = Batches[S]['items'][number];

/** Identifies an item without user content: no attributes, bodies, inputs, outputs or error messages. */
const SUMMARIES: { readonly [S in Signal]: (item: Item<S>) => object } = {
  traces: ({ trace, spans }) => ({
    trace_id: trace.trace_id,
    agent: trace.agent,
    status: trace.status,
    started_at: formatTime(trace.started_at),
    duration_ms: trace.duration_ms,
    spans: spans.length,
    span_types: countsOf(spans.map(({ type }) => type)),
  }),
  metrics: ({ stream, timestamp, value }) => ({
    name: stream.name,
    type: stream.type,
    unit: stream.unit,
    service: stream.origin.serviceName,
    timestamp: formatTime(timestamp),
    value,
  }),
  logs: ({ timestamp, severity, origin, trace_id, span_id, event_name }) => ({
    timestamp: formatTime(timestamp),
    severity,
    service: origin.serviceName,
    trace_id,
    span_id,
    event_name,
  }),
  events: ({ id, type, timestamp }) => ({ id, type, timestamp: formatTime(timestamp) }),
};

function summarize<S extends Signal>(signal: S, item: Item<S>): object {
  return SUMMARIES[signal](item);
}

function countsOf(words: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}
