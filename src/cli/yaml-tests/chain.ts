import type { Component } from '../../component/component.js';
import type { ConsumeContext, Consumer, Receipt } from '../../component/consumer.js';
import type { Exporter, Factory, Settings } from '../../component/factory.js';
import type { Host } from '../../component/host.js';
import type { ConfiguredComponent, FactoryOf } from '../../config/config.js';
import type { AttemptResult, WebhookRequest } from '../../delivery/senders/webhook/sender.js';
import { httpExporter, httpExporterWith } from '../../exporters/http/factory.js';
import type { JsonObject, JsonValue } from '../../signal/attributes.js';
import { SIGNALS, type Batches, type Signal } from '../../signal/batch.js';
import { parseJson } from '../../signal/json.js';
import { createLogger } from '../../telemetry/logger.js';
import type { CountingMeter } from './counting-meter.js';
import { shownItems } from './shown-items.js';
import type { StillClock } from '../../telemetry/still-clock.js';

/** What the exporters of all tests would send, kept for the test that runs. */
export class Recorder {
  #requests: JsonObject[] = [];

  /** The factories with an exporter `http` that sends nothing, and others that cannot be used. */
  instead(builtin: readonly Factory[]): readonly Factory[] {
    return builtin.map((factory) => {
      if (factory.kind !== 'exporter') return factory;
      if (factory.type === httpExporter.type)
        return httpExporterWith(async () => ({
          send: async (request) => this.#record(request),
          close: () => Promise.resolve(),
        }));
      return {
        ...factory,
        create: () => {
          throw new Error('only what an exporter of type http would send can be tested');
        },
      };
    });
  }

  take(): readonly JsonObject[] {
    const requests = this.#requests;
    this.#requests = [];
    return requests;
  }

  #record({ method = 'POST', url, headers, body }: WebhookRequest): AttemptResult {
    const text = body === null ? null : Buffer.from(body).toString();
    this.#requests.push({
      method,
      url,
      headers: { ...headers },
      body: text === null ? null : parsed(text, headers['content-type']),
    });
    return {
      kind: 'success',
      succeeded: true,
      statusCode: 200,
      responseBody: '',
      durationMs: 0,
      error: null,
      detail: null,
      isGone: false,
      retryAfterMs: null,
    };
  }
}

function parsed(text: string, type: string | undefined): JsonValue {
  if (type !== 'application/x-ndjson') return parseJson(text);
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => parseJson(line));
}

/** Processors one after the other for each signal that they take, an exporter behind them, and what came out of them. */
export class Chain {
  readonly #components: Component[] = [];
  readonly #entries = new Map<Signal, Consumer<Batches[Signal]>>();
  #items: Partial<Record<Signal, readonly JsonValue[]>> = {};

  /** @throws Error where a component cannot be created */
  constructor(
    processors: readonly ConfiguredComponent<FactoryOf<'processor'>>[],
    exporter: ConfiguredComponent<FactoryOf<'exporter'>> | undefined,
    tools: { readonly clock: StillClock; readonly meter: CountingMeter },
  ) {
    const output = { write: () => undefined, isTerminal: false };
    const logger = createLogger({ level: 'error', format: 'json', output });
    const settings = ({ id, config }: ConfiguredComponent): Settings<Record<string, unknown>> => ({
      ...tools,
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
    for (const component of this.#components.toReversed()) await component.start?.(HOST);
  }

  async consume<S extends Signal>(signal: S, batch: Batches[S], context: ConsumeContext): Promise<Receipt> {
    const entry = this.#entries.get(signal);
    if (!entry) throw new Error(`there is no way in for ${signal}`);
    return entry.consume(batch, context);
  }

  async stop(): Promise<void> {
    for (const component of this.#components) await component.shutdown?.(new AbortController().signal);
  }

  /** What came out since the last call. */
  take(): Partial<Record<Signal, readonly JsonValue[]>> {
    const items = this.#items;
    this.#items = {};
    return items;
  }

  #end(signal: Signal, exporter: Exporter | undefined): Consumer<Batches[Signal]> {
    const input: Consumer<Batches[Signal]> | undefined = exporter?.inputs[signal];
    return {
      consume: async (batch, context) => {
        const accepted = batch.items.length;
        this.#items[signal] = [...(this.#items[signal] ?? []), ...shownItems(signal, batch)];
        await input?.consume(batch, context);
        return { accepted, refused: [] };
      },
    };
  }
}

/** A daemon in which nothing runs. */
const HOST = {
  prices: { offer: () => undefined, leadingTo: () => [] },
  extension: (id: string) => {
    throw new Error(`it needs the extension "${id}", which tests are without: leave it out of the chain`);
  },
} as unknown as Host;
