import type { ConsumeContext, Consumer, Receipt } from '../../component/consumer.js';
import { notConnected, type Exporter, type Outputs, type PassOn } from '../../component/factory.js';
import { highest, seedOf } from '../../delivery/rendezvous.js';
import type { Batches } from '../../signal/batch.js';

interface Target {
  readonly pipeline: string;
  readonly signal: string;
  /** `gateway-1` of `traces/gateway-1` */
  readonly name: string;
}

/** Exporter `balance`, a connector: see README.md. */
export class BalanceExporter implements Exporter {
  readonly inputs: Outputs;
  readonly #passOn: PassOn;

  constructor({ passOn = notConnected }: { readonly passOn?: PassOn }, targets: readonly Target[]) {
    this.#passOn = passOn;
    this.inputs = {
      traces: this.#input('traces', targets, ({ items }) => items.map(({ trace }) => trace.trace_id)),
      logs: this.#input('logs', targets, ({ items }) => items.map((log) => log.trace_id ?? log.id)),
    };
  }

  #input<S extends 'traces' | 'logs'>(
    signal: S,
    targets: readonly Target[],
    keysOf: (batch: Batches[S]) => readonly string[],
  ): Consumer<Batches[S]> {
    const own = targets
      .filter((target) => target.signal === signal)
      .map(({ pipeline, name }) => ({ pipelines: [pipeline], seed: seedOf(name) }));
    return {
      consume: async (batch: Batches[S], context: ConsumeContext): Promise<Receipt> => {
        const positions = own.map((): number[] => []);
        keysOf(batch).forEach((key, index) => {
          positions[highest(key, own)]?.push(index);
        });
        const parts = own.flatMap(({ pipelines }, at) => {
          const found = positions[at] ?? [];
          return found.length === 0 ? [] : { pipelines, positions: found };
        });
        return this.#passOn(signal, batch, { parts, refused: [] }, context);
      },
    };
  }
}
