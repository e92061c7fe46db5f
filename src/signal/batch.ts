import type { EventRecord } from './event.js';
import type { LogRecord } from './log-record.js';
import type { MetricPoint } from './metric.js';
import type { BatchMap } from './service-map.js';
import type { TraceRecord } from './trace.js';

/** The most items (spans, data points, log records) that a receiver of OTLP takes in one request. */
export const MAX_REQUEST_ITEMS = 50_000;

/** A batch belongs to one tenant: the user whose key brought it. */
export interface Batch<Item> {
  /** Tells it from a `RawBatch`; may be left out. */
  readonly kind?: 'records';
  /** The user's UUID in lower case; for events of an organization, the organization's. */
  readonly tenant: string;
  readonly items: Item[];
  /** Set by the processor `quota`: new items of the batch are charged, and the batch is refused as a whole if it exceeds the limit. */
  readonly quota?: QuotaSettings;
}

/** Asks the store to charge the new items of a batch, with the limit. */
interface QuotaSettings {
  /** Per calendar month, for users without a limit of their own; 0 for no limit. */
  readonly monthly_items: number;
}

export interface TracesBatch extends Batch<TraceRecord> {
  /** Set by processor `service_map`. */
  readonly service_map?: BatchMap;
}
export type MetricsBatch = Batch<MetricPoint>;
export type LogsBatch = Batch<LogRecord>;
export type EventsBatch = Batch<EventRecord>;

/** The only list of signals. Types generic over signals use this map. */
export interface Batches {
  traces: TracesBatch;
  metrics: MetricsBatch;
  logs: LogsBatch;
  events: EventsBatch;
}

export type Signal = keyof Batches;

/** The signals at run time, checked against {@link Batches} by the compiler. */
export const SIGNALS = Object.keys({ traces: true, metrics: true, logs: true, events: true } satisfies Record<
  Signal,
  true
>) as readonly Signal[];

/** What clients send; `events` are made here. */
export const TELEMETRY_SIGNALS = ['traces', 'metrics', 'logs'] as const satisfies readonly Signal[];
export type TelemetrySignal = (typeof TELEMETRY_SIGNALS)[number];

/** What items of a signal hold: its name in metrics and log lines, and in words. An event holds nothing else. */
export const CONTENTS = {
  traces: { name: 'spans', words: 'Spans' },
  metrics: { name: 'metric_points', words: 'Metric points' },
  logs: { name: 'log_records', words: 'Log records' },
} as const satisfies Record<TelemetrySignal, object>;
