import { Type } from 'typebox';
import type { Component } from '../../src/component/component.js';
import { handOver, type Consumer, type Receipt } from '../../src/component/consumer.js';
import type { Factory, Outputs } from '../../src/component/factory.js';
import type { Host } from '../../src/component/host.js';
import {
  choice,
  duration,
  endpoint,
  extensionId,
  filePath,
  secret,
  section,
  size,
} from '../../src/config/schema.js';
import { deliveryKeys } from '../../src/delivery/queue/config.js';
import type { TracesBatch } from '../../src/signal/batch.js';
import type { RawBatch } from '../../src/signal/raw-batch.js';

/** Test behaviour of a component. By default it works normally. */
export interface Behaviour {
  readonly start?: (host: Host) => Promise<void>;
  readonly shutdown?: (deadline: AbortSignal) => Promise<void>;
  readonly consume?: (batch: TracesBatch, next?: Consumer<TracesBatch>) => Promise<Receipt>;
  /** If set, the component accepts raw batches, too. */
  readonly consumeRaw?: (batch: RawBatch) => Promise<Receipt>;
}

const keys = {
  word: choice(['red', 'green', 'blue'], { default: 'red', description: 'A word.' }),
  count: Type.Integer({ default: 3, minimum: 1, maximum: 9, description: 'A number.' }),
  text: Type.Optional(Type.String({ description: 'A text.' })),
  password: Type.Optional(secret({ description: 'A secret.', minLength: 4 })),
  wait: duration({ default: '5s', description: 'A duration.' }),
  limit: size({ default: '1MiB', description: 'A size.' }),
  nested: section({ flag: Type.Boolean({ default: false, description: 'A flag.' }) }),
  helper: Type.Optional(extensionId({ description: 'Another extension.' })),
  endpoint: Type.Optional(endpoint({ description: 'A listener.' })),
  file: Type.Optional(filePath({ description: 'A file that is written.' })),
};
const thing = section(keys);
const queued = section({ ...keys, ...deliveryKeys() });

/**
 * Components for engine tests: receiver `source`, processors `pass` and `mutate`, exporters `sink` and `queue`, extension `thing`. They
 * record events, and a test defines the behaviour of each id.
 */
export class EngineComponents {
  /** `start sink`, `stop sink`, `consume sink`, in order. */
  readonly events: string[] = [];
  /** The outputs of each receiver by id. */
  readonly outputs = new Map<string, Outputs>();
  /** Copies of the batches received by each id. */
  readonly batches = new Map<string, TracesBatch[]>();
  readonly hosts = new Map<string, Host>();
  readonly #behaviours: Readonly<Record<string, Behaviour>>;

  constructor(behaviours: Readonly<Record<string, Behaviour>> = {}) {
    this.#behaviours = behaviours;
  }

  /** Sends a batch like the receiver with that id. */
  async send(id: string, batch: TracesBatch | RawBatch): Promise<Receipt> {
    const output = this.outputs.get(id)?.traces;
    if (!output) throw new Error(`${id} has no output for traces`);
    return handOver(output, batch, { receivedAt: 0 });
  }

  get factories(): readonly Factory[] {
    const about = { description: 'For tests.', stability: 'development', signals: ['traces'] } as const;
    const resources = (config: { endpoint?: string; file?: string }) => [
      ...(config.endpoint === undefined
        ? []
        : [{ kind: 'http_listener' as const, endpoint: config.endpoint }]),
      ...(config.file === undefined ? [] : [{ kind: 'writable_file' as const, path: config.file }]),
    ];
    const base = { ...about, configSchema: thing, resources };
    const processor = (type: string, mutatesBatch: boolean): Factory => ({
      ...base,
      kind: 'processor',
      type,
      mutatesBatch,
      create: {
        traces: ({ id, next }) => {
          const input = this.#consumer(id, next);
          return { ...this.#lifecycle(id), consume: (batch, context) => input.consume(batch, context) };
        },
      },
    });
    const exporter = (type: string, delivery: 'direct' | 'queued'): Factory => ({
      ...base,
      configSchema: delivery === 'queued' ? queued : thing,
      kind: 'exporter',
      type,
      delivery,
      create: ({ id }) => ({ ...this.#lifecycle(id), inputs: { traces: this.#consumer(id) } }),
    });
    return [
      {
        ...base,
        kind: 'receiver',
        type: 'source',
        create: ({ id, outputs }) => {
          this.outputs.set(id, outputs);
          return this.#lifecycle(id);
        },
      },
      processor('pass', false),
      processor('mutate', true),
      exporter('sink', 'direct'),
      exporter('queue', 'queued'),
      {
        ...base,
        kind: 'extension',
        type: 'thing',
        check: ({ text }) =>
          text === 'forbidden' ? [{ path: '/text', message: 'is a word that check forbids' }] : [],
        create: ({ id, config }) => {
          if (config.text === 'uncreatable') throw new Error('this text cannot be used');
          return this.#lifecycle(id);
        },
      },
    ];
  }

  #lifecycle(id: string): Component {
    return {
      start: async (host) => {
        this.events.push(`start ${id}`);
        this.hosts.set(id, host);
        await this.#behaviours[id]?.start?.(host);
      },
      shutdown: async (deadline) => {
        this.events.push(`stop ${id}`);
        await this.#behaviours[id]?.shutdown?.(deadline);
      },
    };
  }

  #consumer(id: string, next?: Consumer<TracesBatch>): Consumer<TracesBatch> {
    const consumeRaw = this.#behaviours[id]?.consumeRaw;
    return {
      passthrough: consumeRaw && { form: 'plain', consume: consumeRaw },
      consume: async (batch, context) => {
        this.events.push(`consume ${id}`);
        this.batches.set(id, [...(this.batches.get(id) ?? []), structuredClone(batch)]);
        const consume = this.#behaviours[id]?.consume;
        if (consume) return consume(batch, next);
        return next ? next.consume(batch, context) : { accepted: batch.items.length, refused: [] };
      },
    };
  }
}
