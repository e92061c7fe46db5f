import type { ConsumeContext, Consumer, Receipt } from '../../component/consumer.js';
import { notConnected, type Exporter, type Outputs, type PassOn } from '../../component/factory.js';
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
      .map(({ pipeline, name }) => ({ pipelines: [pipeline], seed: hash(name, 0) }));
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

/** Rendezvous hashing: without a target, only its own keys move, to the target with their next highest hash. */
function highest(key: string, targets: readonly { readonly seed: number }[]): number {
  let best = 0;
  let most = -1;
  targets.forEach(({ seed }, at) => {
    const value = hash(key, seed);
    if (value > most) [best, most] = [at, value];
  });
  return best;
}

/** FNV-1a with the final mix of MurmurHash3, so that seeds and last characters change all bits. All daemons must agree on it. */
function hash(text: string, seed: number): number {
  let value = 0x811c9dc5 ^ seed;
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
