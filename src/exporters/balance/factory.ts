import { Type } from 'typebox';
import { parseComponentId } from '../../component/component-id.js';
import {
  type ExporterFactory,
  type NamedPipeline,
  notConnected,
  type Exporter,
  type Outputs,
  type PassOn,
} from '../../component/factory.js';
import { section } from '../../config/schema.js';
import type { ConsumeContext, Consumer, Receipt } from '../../component/consumer.js';
import { highest, seedOf } from '../../delivery/rendezvous.js';
import type { Batches } from '../../signal/batch.js';

const balanceConfig = section({
  pipelines: Type.Array(
    Type.String({
      pattern: '^(traces|logs)/.+$',
      patternErrorMessage: 'must be a named pipeline for traces or logs, such as traces/gateway-1',
      description: 'Name of a pipeline.',
    }),
    {
      default: [],
      uniqueItems: true,
      description: 'Pipelines to distribute runs over. Those of one name get the same runs.',
    },
  ),
});

export const balanceExporter: ExporterFactory<typeof balanceConfig> = {
  kind: 'exporter',
  type: 'balance',
  description: 'Distributes whole runs over pipelines by trace id, so that each gateway gets complete runs.',
  stability: 'beta',
  signals: ['traces', 'logs'],
  configSchema: balanceConfig,
  delivery: 'direct',
  pipelines: ({ pipelines }) =>
    pipelines.map((name, at): NamedPipeline => ({ name, path: ['pipelines', String(at)] })),
  create: (settings) =>
    new BalanceExporter(
      settings,
      settings.config.pipelines.map((pipeline) => {
        const { type = '', name = '' } = parseComponentId(pipeline) ?? {};
        return { pipeline, signal: type, name };
      }),
    ),
};

interface Target {
  readonly pipeline: string;
  readonly signal: string;
  /** `gateway-1` of `traces/gateway-1` */
  readonly name: string;
}

/** Exporter `balance`, a connector: see README.md. */
class BalanceExporter implements Exporter {
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
