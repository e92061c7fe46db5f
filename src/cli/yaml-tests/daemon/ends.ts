import type { ConsumeContext, Consumer, Receipt } from '../../../component/consumer.js';
import type { ExporterFactory, Outputs, ReceiverFactory } from '../../../component/factory.js';
import type { Host } from '../../../component/host.js';
import { section } from '../../../config/schema.js';
import type { JsonValue } from '../../../signal/attributes.js';
import { SIGNALS, type Batches, type Signal } from '../../../signal/batch.js';
import { shownItems } from '../shown-items.js';

/** Type of the receiver and the exporter. */
export const TEST_END = 'test_end';

const about = {
  type: TEST_END,
  stability: 'development',
  signals: SIGNALS,
  configSchema: section({}),
} as const;

/** The ends of all pipelines of a daemon under test: a receiver for its input and an exporter that records its output. */
export class Ends {
  #items: Partial<Record<Signal, readonly JsonValue[]>> = {};
  #outputs: Outputs = {};
  #host: Host | undefined;

  get factories(): readonly [ReceiverFactory, ExporterFactory] {
    return [
      {
        ...about,
        kind: 'receiver',
        description: 'Receives the input of a test.',
        create: ({ outputs }) => {
          this.#outputs = outputs;
          return {
            start: (host) => {
              this.#host = host;
              return Promise.resolve();
            },
          };
        },
      },
      {
        ...about,
        kind: 'exporter',
        description: 'Records the output for a test.',
        delivery: 'direct',
        create: () => ({ inputs: Object.fromEntries(SIGNALS.map((one) => [one, this.#input(one)])) }),
      },
    ];
  }

  /** Output since the last {@link forget}. */
  get items(): Partial<Record<Signal, readonly JsonValue[]>> {
    return this.#items;
  }

  forget(): void {
    this.#items = {};
  }

  /** The identity of a key; undefined if the daemon has no users. */
  identityOf(key: string): { readonly user_id: string; readonly key_id?: string } | undefined {
    try {
      const header = (name: string) => (name === 'authorization' ? `Bearer ${key}` : undefined);
      const found = this.#host?.authenticate({ header });
      if (!found) return undefined;
      return { user_id: found.userId, ...(found.keyId !== null && { key_id: found.keyId }) };
    } catch {
      return undefined;
    }
  }

  /** @throws ConsumeError if nothing is accepted; Error if no pipeline accepts the signal */
  async consume<S extends Signal>(signal: S, batch: Batches[S], context: ConsumeContext): Promise<Receipt> {
    const output = this.#outputs[signal];
    if (!output) throw new Error(`no pipeline accepts ${signal}`);
    return output.consume(batch, context);
  }

  #input(signal: Signal): Consumer<Batches[Signal]> {
    return {
      consume: (batch) => {
        this.#items = {
          ...this.#items,
          [signal]: [...(this.#items[signal] ?? []), ...shownItems(signal, batch)],
        };
        return Promise.resolve({ accepted: batch.items.length, refused: [] });
      },
    };
  }
}
