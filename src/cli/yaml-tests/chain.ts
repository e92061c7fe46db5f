import type { Component } from '../../component/component.js';
import type { ConsumeContext, Consumer, Receipt } from '../../component/consumer.js';
import type { Exporter, Factory, Settings } from '../../component/factory.js';
import type { Host } from '../../component/host.js';
import type { ConfiguredComponent, FactoryOf } from '../../config/config.js';
import { httpExporter, httpExporterWith } from '../../exporters/http/factory.js';
import { quotaProcessor } from '../../processors/quota/factory.js';
import type { JsonObject, JsonValue } from '../../signal/attributes.js';
import { SIGNALS, type Batches, type Signal, type TracesBatch } from '../../signal/batch.js';
import { mapOf } from '../../signal/derive-map.js';
import { createLogger } from '../../telemetry/logger.js';
import type { CountingMeter } from './counting-meter.js';
import type { MemoryStore } from './memory-store.js';
import { NOT_SENT, recordedRequest } from './recorded-request.js';
import { shownItems } from './shown-items.js';
import { shownMap } from './shown-map.js';
import type { StillClock } from '../../telemetry/still-clock.js';

/** Records what the exporters of the current test would send or store. */
export class Recorder {
  #requests: JsonObject[] = [];
  #delivered: Partial<Record<Signal, readonly JsonValue[]>> = {};

  /** Replaces exporters by recording ones: `http` sends nothing, others keep their input. */
  instead(builtin: readonly Factory[]): readonly Factory[] {
    return builtin.map((factory) => {
      if (factory.kind !== 'exporter') return factory;
      if (factory.type === httpExporter.type)
        return httpExporterWith(async () => ({
          send: (request) => {
            this.#requests.push(recordedRequest(request));
            return Promise.resolve(NOT_SENT);
          },
          close: () => Promise.resolve(),
        }));
      return { ...factory, create: () => ({ inputs: this.#inputs(factory.signals) }) };
    });
  }

  /** Output since the last call: the requests of exporters `http` and the input of others. */
  take(): {
    readonly requests: readonly JsonObject[];
    readonly delivered: Partial<Record<Signal, readonly JsonValue[]>>;
  } {
    const [requests, delivered] = [this.#requests, this.#delivered];
    this.#requests = [];
    this.#delivered = {};
    return { requests, delivered };
  }

  #inputs(signals: readonly Signal[]): Exporter['inputs'] {
    const input = (signal: Signal): Consumer<Batches[Signal]> => ({
      consume: (batch) => {
        this.#delivered[signal] = [...(this.#delivered[signal] ?? []), ...shownItems(signal, batch)];
        return Promise.resolve({ accepted: batch.items.length, refused: [] });
      },
    });
    return Object.fromEntries(signals.map((signal) => [signal, input(signal)]));
  }
}

/** A sequence of processors and an exporter for each signal that they accept, with its recorded output. */
export class Chain {
  readonly #components: Component[] = [];
  readonly #entries = new Map<Signal, Consumer<Batches[Signal]>>();
  readonly #store: MemoryStore;
  #items: Partial<Record<Signal, readonly JsonValue[]>> = {};
  #mapped: Parameters<typeof shownMap>[0][number][] = [];

  /** @throws Error if a component cannot be created */
  constructor(
    processors: readonly ConfiguredComponent<FactoryOf<'processor'>>[],
    exporter: ConfiguredComponent<FactoryOf<'exporter'>> | undefined,
    {
      store,
      ...tools
    }: { readonly clock: StillClock; readonly meter: CountingMeter; readonly store: MemoryStore },
  ) {
    this.#store = store;
    const output = { write: () => undefined, isTerminal: false };
    const logger = createLogger({ level: 'error', format: 'json', output });
    // No timers for this processor: it would fire every 40 seconds, and a test may advance a month. The result of its timer is
    // not used here.
    const untimed = { ...tools, clock: { now: () => tools.clock.now(), after: () => () => undefined } };
    const settings = ({ id, config, factory }: ConfiguredComponent): Settings<Record<string, unknown>> => ({
      ...(factory.type === quotaProcessor.type ? untimed : tools),
      id,
      config,
      logger,
    });
    const last = exporter?.factory.create(settings(exporter));
    for (const signal of SIGNALS) {
      let next: Consumer<Batches[Signal]> = this.#end(signal, last);
      for (const processor of processors.toReversed()) {
        const create = processor.factory.create[signal];
        if (!create) continue;
        const created = create({ ...settings(processor), next });
        this.#components.unshift(created);
        next = created;
      }
      this.#entries.set(signal, next);
    }
    if (last) this.#components.push(last);
  }

  async start(): Promise<void> {
    for (const component of this.#components.toReversed()) await component.start?.(hostWith(this.#store));
  }

  async consume<S extends Signal>(signal: S, batch: Batches[S], context: ConsumeContext): Promise<Receipt> {
    const entry = this.#entries.get(signal);
    if (!entry) throw new Error(`no component of the chain accepts ${signal}`);
    return entry.consume(batch, context);
  }

  async stop(): Promise<void> {
    for (const component of this.#components) await component.shutdown?.(new AbortController().signal);
  }

  /** Output since the last call, with its service map. */
  take(): { readonly items: Partial<Record<Signal, readonly JsonValue[]>>; readonly map: JsonObject } {
    const [items, mapped] = [this.#items, this.#mapped];
    this.#items = {};
    this.#mapped = [];
    return { items, map: shownMap(mapped) };
  }

  #end(signal: Signal, exporter: Exporter | undefined): Consumer<Batches[Signal]> {
    const input: Consumer<Batches[Signal]> | undefined = exporter?.inputs[signal];
    return {
      consume: async (batch, context) => {
        const accepted = batch.items.length;
        const usage = this.#store.take(signal, batch, context);
        const map = signal === 'traces' ? mapOf(batch as TracesBatch) : undefined;
        if (map !== undefined) this.#mapped.push({ items: (batch as TracesBatch).items, map });
        this.#items[signal] = [...(this.#items[signal] ?? []), ...shownItems(signal, batch)];
        await input?.consume(batch, context);
        return { accepted, refused: [], ...(usage && { usage }) };
      },
    };
  }
}

/** A minimal host: a daemon that runs only an in-memory store. */
function hostWith({ extension }: MemoryStore): Host {
  return {
    prices: { offer: () => undefined, leadingTo: () => [] },
    reportStatus: () => undefined,
    health: () => ({ phase: 'running', isReady: true, components: [] }),
    extension: (id: string, isWanted: (candidate: unknown) => boolean) => {
      if (isWanted(extension)) return extension;
      throw new Error(`it needs the extension "${id}", which tests do not have: remove it from the chain`);
    },
  } as unknown as Host;
}
