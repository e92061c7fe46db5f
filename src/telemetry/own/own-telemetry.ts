import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { ExportResultCode, type ExportResult } from '@opentelemetry/core';
import { defaultResource, resourceFromAttributes, type Resource } from '@opentelemetry/resources';
import { BatchLogRecordProcessor, LoggerProvider, type ReadableLogRecord } from '@opentelemetry/sdk-logs';
import {
  MeterProvider,
  PeriodicExportingMetricReader,
  type ResourceMetrics,
} from '@opentelemetry/sdk-metrics';
import {
  BatchSpanProcessor,
  TracerProvider,
  type ReadableSpan,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace';
import type { Clock, Counter, Logger, Tracer } from '../../component/telemetry.js';
import type { TelemetrySignal } from '../../signal/batch.js';
import { MS_PER_MINUTE } from '../../signal/time-units.js';
import type { PrometheusMeter } from '../meter.js';
import { SparseLog } from '../sparse-log.js';
import { waitFor } from '../wait-for.js';
import {
  exporterTo,
  POINTS,
  RECORDS,
  SPANS,
  type Destination,
  type Form,
  type ItemExporter,
} from './exporters.js';
import { metricProducer } from './metric-data.js';
import { SdkTracer, type Active } from './sdk-tracer.js';
import { type LogAttributes, type LogRecord, SeverityNumber } from '@opentelemetry/api-logs';

/** Spans, and log records, that wait to be sent. Further ones are dropped. */
const MOST_WAITING = 2048;
const BATCH_SIZE = 512;
const BATCH_DELAY_MS = 1000;
/** Maximum length of an attribute, such as a stack. */
const MOST_TEXT = 8192;
const LOGGED_AGAIN_MS = 10 * MS_PER_MINUTE;
/** The instrumentation scope. */
const SCOPE = 'jackdaw';

export interface OwnTelemetryOptions {
  readonly version: string;
  /** Attributes of the resource, which replace the default ones of the same name. */
  readonly resource: Readonly<Record<string, string>>;
  readonly destination: Destination;
  /** Share of requests and deliveries; null: no traces. */
  readonly sampleRatio: number | null;
  /** Null: no metrics. */
  readonly metricsIntervalMs: number | null;
  /** Minimum level; null: no logs. */
  readonly logLevel: SentLevel | null;
  /** Time limit for a request including retries. */
  readonly timeoutMs: number;
  readonly meter: PrometheusMeter;
  readonly logger: ForwardingLogger;
  readonly clock: Clock;
}

/** A logger that can also pass on its lines. */
export interface ForwardingLogger extends Logger {
  forward?(receive: ((line: string) => void) | null): void;
}

/** Sends the daemon's traces, metrics and log by OTLP. Failures are logged and counted, and have no other effect. */
export class OwnTelemetry {
  readonly #options: OwnTelemetryOptions;
  readonly #active = new AsyncLocalStorage<Active>();
  readonly #counters: Counters;
  readonly #failures: Failures;
  readonly #resource: Resource;
  readonly #ends: (() => Promise<void>)[] = [];
  readonly #redirections: ((to: Destination) => Promise<void>)[] = [];
  readonly #queues: Queue[] = [];
  #tracer: Tracer | undefined;

  private constructor(options: OwnTelemetryOptions) {
    const { meter, version, resource } = options;
    this.#options = options;
    this.#failures = new Failures(options);
    this.#counters = {
      sent: meter.counter('own_telemetry_sent_items_total', {
        description: 'Spans, metric points and log records about the daemon itself that were sent.',
        labelNames: ['signal'],
      }),
      dropped: meter.counter('own_telemetry_dropped_items_total', {
        description: 'Own telemetry that was not sent, by reason: queue_full, failed, shutdown.',
        labelNames: ['signal', 'reason'],
      }),
    };
    const attributes = {
      'service.name': SCOPE,
      'service.version': version,
      'service.instance.id': randomUUID(),
    };
    this.#resource = defaultResource().merge(resourceFromAttributes({ ...attributes, ...resource }));
  }

  static async open(options: OwnTelemetryOptions): Promise<OwnTelemetry> {
    const { destination, sampleRatio, metricsIntervalMs, logLevel } = options;
    const own = new OwnTelemetry(options);
    if (sampleRatio !== null) own.#trace(await exporterTo(destination, SPANS), sampleRatio);
    if (metricsIntervalMs !== null) own.#measure(await exporterTo(destination, POINTS), metricsIntervalMs);
    if (logLevel !== null) own.#log(await exporterTo(destination, RECORDS), logLevel);
    return own;
  }

  /** Sends to another server, or with other headers, from now on. */
  async redirect(to: Destination): Promise<void> {
    for (const redirect of this.#redirections) await redirect(to);
  }

  /** Undefined if no traces are sent. */
  get tracer(): Tracer | undefined {
    return this.#tracer;
  }

  /** Sends what waits, until the deadline, and drops the rest. Never rejects. */
  async close(deadline: AbortSignal): Promise<void> {
    this.#options.logger.forward?.(null);
    this.#failures.close();
    await waitFor(Promise.allSettled(this.#ends.map(async (end) => end())), deadline);
    for (const queue of this.#queues) queue.close();
  }

  #trace(to: ItemExporter<ReadableSpan[]>, sampleRatio: number): void {
    const queue = this.#queue('traces');
    const exporter = this.#counted(SPANS, to, (spans) => spans.length, queue);
    const processor = new BatchSpanProcessor({ exporter, ...this.#batching });
    const spanProcessor: SpanProcessor = {
      onStart: () => undefined,
      onEnd: (span) => {
        if (queue.enter()) processor.onEnd(span);
      },
      forceFlush: async () => processor.forceFlush(),
      shutdown: async () => processor.shutdown(),
    };
    const provider = new TracerProvider({
      resource: this.#resource,
      spanLimits: { attributeValueLengthLimit: MOST_TEXT },
      spanProcessors: [spanProcessor],
    });
    this.#ends.push(async () => provider.shutdown());
    const { destination, version } = this.#options;
    this.#tracer = new SdkTracer(provider.getTracer(SCOPE, version), this.#active, {
      destination,
      sampleRatio,
    });
  }

  #measure(to: ItemExporter<ResourceMetrics>, intervalMs: number): void {
    const { meter, version, timeoutMs } = this.#options;
    const reader = new PeriodicExportingMetricReader({
      exporter: this.#counted(POINTS, to, pointsOf),
      exportIntervalMillis: intervalMs,
      exportTimeoutMillis: Math.min(intervalMs, timeoutMs),
      metricProducers: [metricProducer(meter, { name: SCOPE, version })],
    });
    const provider = new MeterProvider({ resource: this.#resource, readers: [reader] });
    this.#ends.push(async () => provider.shutdown());
  }

  #log(to: ItemExporter<ReadableLogRecord[]>, least: SentLevel): void {
    const queue = this.#queue('logs');
    const exporter = this.#counted(RECORDS, to, (records) => records.length, queue);
    const processor = new BatchLogRecordProcessor({ exporter, ...this.#batching });
    const provider = new LoggerProvider({
      resource: this.#resource,
      logRecordLimits: { attributeValueLengthLimit: MOST_TEXT },
      processors: [processor],
    });
    this.#ends.push(async () => provider.shutdown());
    const { logger, version } = this.#options;
    const log = provider.getLogger(SCOPE, version);
    logger.forward?.((line) => {
      const active = this.#active.getStore();
      if (active === 'sending') return;
      const record = logRecordOf(line, least);
      if (record === undefined || !queue.enter()) return;
      log.emit(active === undefined ? record : { ...record, context: trace.setSpan(ROOT_CONTEXT, active) });
    });
  }

  get #batching() {
    const { timeoutMs } = this.#options;
    return {
      maxQueueSize: MOST_WAITING,
      maxExportBatchSize: BATCH_SIZE,
      scheduledDelayMillis: BATCH_DELAY_MS,
      exportTimeoutMillis: timeoutMs,
    };
  }

  #queue(signal: TelemetrySignal): Queue {
    const queue = new Queue((count, reason) => {
      this.#counters.dropped.add(count, { signal, reason });
    });
    this.#queues.push(queue);
    return queue;
  }

  /** An exporter that counts, and whose work is neither traced nor logged. */
  #counted<Items>(
    form: Form<Items>,
    to: ItemExporter<Items>,
    amountOf: (items: Items) => number,
    queue?: Queue,
  ): ItemExporter<Items> {
    const { sent, dropped } = this.#counters;
    const { signal } = form;
    let current = to;
    this.#redirections.push(async (destination) => {
      const before = current;
      current = await exporterTo(destination, form);
      // Finishes its requests.
      before.shutdown().catch(() => undefined);
    });
    sent.add(0, { signal });
    dropped.add(0, { signal, reason: 'failed' });
    return {
      export: (items, done) => {
        const amount = amountOf(items);
        queue?.leave(amount);
        this.#active.run('sending', () => {
          current.export(items, (result) => {
            const isSent = result.code === ExportResultCode.SUCCESS;
            if (isSent) sent.add(amount, { signal });
            else dropped.add(amount, { signal, reason: 'failed' });
            this.#failures.note(signal, result);
            done(result);
          });
        });
      },
      forceFlush: async () => current.forceFlush(),
      shutdown: async () => current.shutdown(),
    };
  }
}

interface Counters {
  readonly sent: Counter;
  readonly dropped: Counter;
}

/** Limits and counts what waits in a processor of the SDK, which drops silently. */
class Queue {
  readonly #drop: (count: number, reason: 'queue_full' | 'shutdown') => void;
  #waiting = 0;
  #isClosed = false;

  constructor(drop: (count: number, reason: 'queue_full' | 'shutdown') => void) {
    this.#drop = drop;
    drop(0, 'queue_full');
  }

  /** @returns whether there is room for one more item */
  enter(): boolean {
    if (!this.#isClosed && this.#waiting < MOST_WAITING) {
      this.#waiting++;
      return true;
    }
    this.#drop(1, this.#isClosed ? 'shutdown' : 'queue_full');
    return false;
  }

  leave(count: number): void {
    this.#waiting -= count;
  }

  /** Counts what still waits as dropped. */
  close(): void {
    this.#isClosed = true;
    this.#drop(this.#waiting, 'shutdown');
    this.#waiting = 0;
  }
}

/** Logs when sending begins to fail, again while it fails, and when it works again. */
class Failures {
  readonly #logger: Logger;
  readonly #log: SparseLog;
  readonly #failing = new Set<TelemetrySignal>();
  #isClosed = false;

  constructor({ logger, clock }: Pick<OwnTelemetryOptions, 'logger' | 'clock'>) {
    this.#logger = logger;
    this.#log = new SparseLog(logger, clock, LOGGED_AGAIN_MS);
  }

  note(signal: TelemetrySignal, { code, error }: ExportResult): void {
    if (this.#isClosed) return;
    if (code === ExportResultCode.SUCCESS) {
      if (this.#failing.delete(signal) && this.#failing.size === 0)
        this.#logger.info({}, 'Own telemetry is being sent again');
      return;
    }
    this.#failing.add(signal);
    this.#log.warn(
      1,
      { signal, reason: reasonOf(error) },
      'Own telemetry could not be sent and is dropped; check service.telemetry.otlp and its server',
    );
  }

  /** During a stop, what is not sent is only counted. */
  close(): void {
    this.#isClosed = true;
  }
}

/** Without the body of a response, which may be long. */
function reasonOf(error: Error | undefined): string {
  if (error === undefined) return 'unknown';
  // A status of HTTP or gRPC, or an error code of the system, which the message contains.
  return 'code' in error && typeof error.code === 'number' && !error.message.includes(String(error.code))
    ? `${error.code} ${error.message}`
    : error.message;
}

function pointsOf({ scopeMetrics }: ResourceMetrics): number {
  let points = 0;
  for (const { metrics } of scopeMetrics) for (const { dataPoints } of metrics) points += dataPoints.length;
  return points;
}

/** Levels whose lines may be sent. Sending writes debug lines itself, so these would never end. */
const SEVERITIES: Readonly<Record<string, SeverityNumber>> = {
  info: SeverityNumber.INFO,
  warn: SeverityNumber.WARN,
  error: SeverityNumber.ERROR,
};

type SentLevel = 'info' | 'warn' | 'error';

/**
 * A line of the daemon's log as a log record.
 *
 * @param line JSON
 * @param least minimum level
 * @returns undefined for a lower level
 */
function logRecordOf(line: string, least: SentLevel): LogRecord | undefined {
  const fields = JSON.parse(line) as Record<string, unknown>;
  const { level, time, msg, err, ...others } = fields;
  // The resource names the process.
  delete others['pid'];
  delete others['hostname'];
  const severityNumber = SEVERITIES[String(level)];
  if (severityNumber === undefined || severityNumber < (SEVERITIES[least] ?? 0)) return undefined;
  return {
    timestamp: new Date(String(time)),
    severityNumber,
    severityText: String(level),
    body: String(msg),
    // Read from JSON.
    attributes: { ...(others as LogAttributes), ...exceptionOf(err) },
  };
}

/** The fields of an error by their names in the semantic conventions. */
function exceptionOf(error: unknown): LogAttributes {
  if (typeof error !== 'object' || error === null) return {};
  const { type, message, stack } = error as Record<string, unknown>;
  return {
    'exception.type': String(type),
    'exception.message': String(message),
    ...(typeof stack === 'string' && { 'exception.stacktrace': stack }),
  };
}
