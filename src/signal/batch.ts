import type { EventRecord } from './event.js';
import type { LogRecord } from './log-record.js';
import type { MetricPoint } from './metric.js';
import type { BatchMap } from './service-map.js';
import type { TraceRecord } from './trace.js';

/** Maximum number of items (spans, data points, log records) that an OTLP receiver accepts in one request. */
export const MAX_REQUEST_ITEMS = 50_000;

/** A batch of one tenant: the user whose key sent it. */
export interface Batch<Item> {
  /** Distinguishes it from a `RawBatch`; optional. */
  readonly kind?: 'records';
  /** The user's UUID in lower case; for events of an organization, the organization's. */
  readonly tenant: string;
  readonly items: Item[];
  /**
   * Set by processor `quota`: new items of the batch are counted, and the batch is refused as a whole if it exceeds the limit.
   */
  readonly quota?: QuotaSettings;
}

/** Tells the store to count new items of a batch, and the limit. */
interface QuotaSettings {
  /** Items per calendar month, for users without their own limit; 0 for no limit. */
  readonly monthly_items: number;
}

export interface TracesBatch extends Batch<TraceRecord> {
  /** Set by processor `service_map`. */
  readonly service_map?: BatchMap;
}
export type MetricsBatch = Batch<MetricPoint>;
export type LogsBatch = Batch<LogRecord>;
export type EventsBatch = Batch<EventRecord>;

/** The only list of signals: generic types use this map. */
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

/** Signals that clients send; Jackdaw itself emits `events`. */
export const TELEMETRY_SIGNALS = ['traces', 'metrics', 'logs'] as const satisfies readonly Signal[];
export type TelemetrySignal = (typeof TELEMETRY_SIGNALS)[number];

/** The contents of items by signal: their name in metrics and log lines, and in words. Events have no contents. */
export const CONTENTS = {
  traces: { name: 'spans', words: 'Spans' },
  metrics: { name: 'metric_points', words: 'Metric points' },
  logs: { name: 'log_records', words: 'Log records' },
} as const satisfies Record<TelemetrySignal, object>;
