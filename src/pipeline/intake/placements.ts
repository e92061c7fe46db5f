import { TELEMETRY_SIGNALS, type Signal } from '../../signal/batch.js';
import type { Placement } from '../../component/intake.js';
import type { Plan, PlannedPipeline } from '../plan.js';

/** Which pipelines run in intake threads. A pipeline does if all its components may. */
export class Placements {
  readonly #any: ReadonlySet<PlannedPipeline>;
  readonly #pipelines: readonly PlannedPipeline[];

  constructor(plan: Plan) {
    const encodedSignals = (id: string): readonly Signal[] =>
      plan.extensions.find((extension) => extension.id === id)?.factory.encodedSignals ?? [];
    const isAny = ({ signal, receivers, processors, exporters }: PlannedPipeline): boolean => {
      const context = { signal, encodedSignals };
      return (
        (TELEMETRY_SIGNALS as readonly Signal[]).includes(signal) &&
        receivers.some(({ factory, config }) => factory.placement?.(config, context) === 'any') &&
        [...processors, ...exporters].every(
          ({ factory, config }) => factory.placement?.(config, context) === 'any',
        )
      );
    };
    this.#pipelines = plan.pipelines;
    this.#any = new Set(plan.pipelines.filter(isAny));
  }

  /** Whether the requests of a receiver are processed in threads: those of a signal have to be decoded in one place. */
  takes(receiver: PlannedPipeline['receivers'][number], signal: Signal): boolean {
    const context = { signal, encodedSignals: () => [] };
    const own = this.#pipelines.filter((each) => each.signal === signal && each.receivers.includes(receiver));
    return (
      receiver.factory.placement?.(receiver.config, context) === 'any' &&
      own.length > 0 &&
      own.every((pipeline) => this.#any.has(pipeline))
    );
  }

  receiver(id: string): PlannedPipeline['receivers'][number] | undefined {
    return this.#pipelines.flatMap(({ receivers }) => receivers).find((receiver) => receiver.id === id);
  }

  /** Where the requests of a receiver run in a pipeline: `any` in the threads, if there are any. */
  of(pipeline: PlannedPipeline, receiver: PlannedPipeline['receivers'][number]): Placement {
    return this.takes(receiver, pipeline.signal) ? 'any' : 'main';
  }

  /** The pipelines that threads run, with the receivers whose requests they process. */
  inThreads(): readonly PlannedPipeline[] {
    return this.#pipelines.flatMap((pipeline) => {
      const receivers = pipeline.receivers.filter((receiver) => this.of(pipeline, receiver) === 'any');
      return receivers.length === 0 ? [] : { ...pipeline, receivers };
    });
  }
}
