import type { Consumer } from '../../component/consumer.js';
import type { Provenance } from '../../otlp/map/provenance.js';
import type { Plan, PlannedPipeline } from '../../pipeline/plan.js';
import { otlpReceiver } from '../../receivers/otlp/factory.js';
import { Intake } from '../../receivers/otlp/intake.js';
import type { OtlpConfig } from '../../receivers/otlp/config.js';
import { costProcessor } from '../../processors/cost/factory.js';
import { serviceMapProcessor } from '../../processors/service-map/factory.js';
import { quotaProcessor } from '../../processors/quota/factory.js';
import { validationProcessor } from '../../processors/validation/factory.js';
import {
  TELEMETRY_SIGNALS,
  type Batches,
  type LogsBatch,
  type TelemetrySignal,
  type TracesBatch,
} from '../../signal/batch.js';
import { deriveBatch } from '../../signal/derive-map.js';
import { createLogger } from '../../telemetry/logger.js';
import { PrometheusMeter } from '../../telemetry/meter.js';
import { systemClock } from '../../telemetry/system-clock.js';
import { UsageError } from '../usage-error.js';
import type { TelemetryRequest } from './request.js';

/** The owner of the telemetry does not matter here. */
const SENDER = { userId: '00000000-0000-4000-8000-000000000000', keyId: null };
/** Processors that affect the result and need no store. */
const DECIDING: readonly string[] = [validationProcessor.type, costProcessor.type];
/** Processors that may be left out: they only count items, or derive the service map in threads, which is derived here. */
const NOT_MISSED: readonly string[] = [quotaProcessor.type, serviceMapProcessor.type];

/** The content of a file, as it would be stored. */
export interface Taken {
  readonly traces: readonly TracesBatch[];
  readonly logs: readonly LogsBatch[];
  /** Spans, log records and metric points that were taken. */
  readonly counts: Readonly<Record<TelemetrySignal, number>>;
  /** Rejected items: the number of items of a request, and the reason. */
  readonly rejections: readonly string[];
}

/** Receives requests like the receiver `otlp` of a configuration, passes them through its pipelines, and keeps the output. */
export class Taking {
  readonly #intake: Intake;
  readonly #traces: TracesBatch[] = [];
  readonly #logs: LogsBatch[] = [];
  readonly #counts: Record<TelemetrySignal, number> = { traces: 0, metrics: 0, logs: 0 };
  /** Skipped processors of these pipelines that might change the result. */
  readonly leftOut: readonly string[];

  /** @throws UsageError for a configuration that takes no traces by OTLP */
  constructor(plan: Plan, provenance: Provenance) {
    const pipelines = new Map(TELEMETRY_SIGNALS.map((signal) => [signal, pipelineOf(plan, signal)]));
    const traces = pipelines.get('traces');
    const receiver = traces?.receivers.find(isOtlp);
    if (traces === undefined || receiver === undefined)
      throw new UsageError('the configuration has no pipeline of traces with a receiver otlp');
    const isMapped = traces.processors.some(({ factory }) => factory.type === serviceMapProcessor.type);
    const outputs = {
      traces: this.#chain('traces', traces, (batch) => {
        this.#traces.push(isMapped ? { ...batch, service_map: deriveBatch(batch.items) } : batch);
        this.#counts.traces += batch.items.reduce((sum, { spans }) => sum + spans.length, 0);
      }),
      logs: this.#chain('logs', pipelines.get('logs'), (batch) => {
        this.#logs.push(batch);
        this.#counts.logs += batch.items.length;
      }),
      metrics: this.#chain('metrics', pipelines.get('metrics'), (batch) => {
        this.#counts.metrics += batch.items.length;
      }),
    };
    // The plan has the configuration of a receiver `otlp` as its schema describes it.
    const config = receiver.config as OtlpConfig;
    this.#intake = new Intake({ ...tools(), id: receiver.id, config, outputs, provenance });
    this.leftOut = [...pipelines.values()]
      .flatMap((pipeline) => pipeline?.processors ?? [])
      .filter(({ factory: { type } }) => !DECIDING.includes(type) && !NOT_MISSED.includes(type))
      .map(({ id }) => id);
  }

  async take(requests: readonly TelemetryRequest[]): Promise<Taken> {
    const rejections: string[] = [];
    for (const each of requests) {
      const { rejection } = await this.#takeOne(each);
      if (rejection !== undefined)
        rejections.push(`${rejection.count} of ${each.signal}: ${rejection.reason}`);
    }
    return { traces: this.#traces, logs: this.#logs, counts: this.#counts, rejections };
  }

  #takeOne(each: TelemetryRequest) {
    const { signal: abort } = new AbortController();
    switch (each.signal) {
      case 'traces':
        return this.#intake.take('traces', { decode: () => each.request }, SENDER, { abort });
      case 'metrics':
        return this.#intake.take('metrics', { decode: () => each.request }, SENDER, { abort });
      case 'logs':
        return this.#intake.take('logs', { decode: () => each.request }, SENDER, { abort });
    }
  }

  /** The deciding processors of a pipeline, followed by `keep`. Without a pipeline, `keep` alone. */
  #chain<S extends TelemetrySignal>(
    signal: S,
    pipeline: PlannedPipeline | undefined,
    keep: (batch: Batches[S]) => void,
  ): Consumer<Batches[S]> {
    let next: Consumer<Batches[S]> = {
      consume: async (batch) => {
        keep(batch);
        return { accepted: batch.items.length, refused: [] };
      },
    };
    for (const { factory, id, config } of pipeline?.processors.toReversed() ?? []) {
      const create = DECIDING.includes(factory.type) ? factory.create[signal] : undefined;
      if (create !== undefined) next = create({ ...tools(), id, config, next });
    }
    return next;
  }
}

function pipelineOf({ pipelines }: Plan, signal: TelemetrySignal): PlannedPipeline | undefined {
  return pipelines.find((pipeline) => pipeline.signal === signal && pipeline.receivers.some(isOtlp));
}

function isOtlp({ factory }: PlannedPipeline['receivers'][number]): boolean {
  return factory.type === otlpReceiver.type;
}

/** A short command needs no logs or metrics. */
function tools() {
  const output = { write: () => undefined, isTerminal: false };
  const logger = createLogger({ level: 'error', format: 'json', output });
  return { logger, meter: new PrometheusMeter(), clock: systemClock };
}
