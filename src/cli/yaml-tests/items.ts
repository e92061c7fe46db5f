import { itemReader } from '../../receivers/trace-batch/item-reader.js';
import type { JsonObject, JsonValue } from '../../signal/attributes.js';
import { envelope, type EventRecord } from '../../signal/event.js';
import type { LogRecord } from '../../signal/log-record.js';
import type { MetricPoint, MetricStream } from '../../signal/metric.js';
import type { Origin } from '../../signal/origin.js';
import { formatTime, parseTime, type Micros } from '../../signal/time.js';
import type { TraceRecord } from '../../signal/trace.js';
import type { Input } from './test-schema.js';

/** A problem with an item, with its position in the input. */
export class ItemProblem extends Error {
  override readonly name = 'ItemProblem';
  readonly path: readonly string[];

  constructor(path: readonly string[], message: string) {
    super(message);
    this.path = path;
  }
}

type Of<Key extends keyof Input> = Input[Key][number];

/** OTLP severity numbers: each is the first of four. */
const SEVERITY_NUMBERS = { trace: 1, debug: 5, info: 9, warn: 13, error: 17, fatal: 21 } as const;

/** The id of the n-th item of a kind; the same in every run. */
function idOf(kind: number, n: number): string {
  return `00000000-0000-4000-8${String(kind).padStart(3, '0')}-${String(n).padStart(12, '0')}`;
}

/** Builds records from the input of a test, with defaults for missing fields. */
export class Items {
  readonly #now: Micros;
  /** Ids continue across the steps of a test. */
  readonly #from: number;

  constructor(now: Micros, from: number) {
    this.#now = now;
    this.#from = from;
  }

  /** @throws ItemProblem */
  trace({ spans, ...header }: Of<'traces'>, index: number): TraceRecord {
    const number = this.#from + index;
    const traceId = (header as { readonly trace_id?: unknown }).trace_id ?? idOf(1, number);
    const started_at = formatTime(this.#now);
    const item = {
      trace: { trace_id: traceId, agent: 'agent', started_at, ...header },
      spans: spans.map((span, at) => ({
        span_id: idOf(2, number * 1000 + at),
        trace_id: traceId,
        type: 'custom',
        name: 'span',
        started_at,
        ...span,
      })),
    };
    const read = itemReader()(item);
    if (typeof read !== 'string') return read;
    const [, pointer = '', message = read] = /^(\/\S*): (.*)$/s.exec(read) ?? [];
    throw new ItemProblem(
      ['traces', String(index), ...pointer.split('/').filter((key) => key !== '' && key !== 'trace')],
      message,
    );
  }

  /** @throws ItemProblem */
  log(log: Of<'logs'>, index: number): LogRecord {
    const at = (key: 'timestamp' | 'observed_at') => this.#time(log[key], ['logs', String(index), key]);
    const severity = log.severity ?? 'info';
    return {
      id: idOf(3, this.#from + index),
      timestamp: at('timestamp') ?? this.#now,
      observed_at: at('observed_at'),
      severity,
      severity_number: SEVERITY_NUMBERS[severity],
      severity_text: log.severity_text ?? severity.toUpperCase(),
      body: (log.body ?? null) as JsonValue,
      trace_id: log.trace_id ?? null,
      span_id: log.span_id ?? null,
      flags: 0,
      event_name: log.event_name ?? null,
      attributes: (log.attributes ?? {}) as JsonObject,
      origin: originOf(log.resource),
    };
  }

  /** @throws ItemProblem */
  point(point: Of<'metrics'>, index: number): MetricPoint {
    const at = (key: 'timestamp' | 'start_time') => this.#time(point[key], ['metrics', String(index), key]);
    const attributes = (point.attributes ?? {}) as JsonObject;
    const origin = originOf(point.resource);
    return {
      stream: streamOf(point, origin),
      labels: {
        ...(origin.serviceName !== '' && { service_name: origin.serviceName }),
        ...Object.fromEntries(Object.entries(attributes).map(([key, value]) => [key, labelOf(value)])),
      },
      attributes,
      timestamp: at('timestamp') ?? this.#now,
      start_time: at('start_time'),
      value: point.value ?? null,
      flags: 0,
      distribution: null,
      exemplars: null,
    };
  }

  /** @throws ItemProblem */
  event(
    { type, id, timestamp, organization_id, endpoint_id, data = {} }: Of<'events'>,
    index: number,
  ): EventRecord {
    const event = {
      id: id ?? idOf(4, this.#from + index),
      type,
      timestamp: this.#time(timestamp, ['events', String(index), 'timestamp']) ?? this.#now,
      organization_id: organization_id ?? null,
      endpoint_id: endpoint_id ?? null,
    };
    return { ...event, body: envelope(event, data) };
  }

  #time(text: string | undefined, path: readonly string[]): Micros | null {
    if (text === undefined) return null;
    const time = parseTime(text);
    if (time === undefined) throw new ItemProblem(path, 'must be a time, such as 2026-01-15T12:00:00Z');
    return time;
  }
}

function streamOf(point: Of<'metrics'>, origin: Origin): MetricStream {
  const { name, type = 'gauge', unit = '', description = '', temporality, is_monotonic } = point;
  const isSum = type === 'sum';
  const hasTemporality = isSum || type === 'histogram' || type === 'exponential_histogram';
  return {
    name,
    type,
    unit,
    description,
    temporality: hasTemporality ? (temporality ?? 'cumulative') : null,
    is_monotonic: isSum ? (is_monotonic ?? true) : null,
    origin,
  };
}

function originOf(resource: Readonly<Record<string, unknown>> = {}): Origin {
  const name = resource['service.name'];
  return {
    resource: resource as JsonObject,
    scope: null,
    serviceName: typeof name === 'string' ? name : '',
  };
}

function labelOf(value: JsonValue): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}
