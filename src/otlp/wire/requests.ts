/**
 * OTLP requests as returned by both decoders: the names of the JSON mapping (opentelemetry-proto, `opentelemetry/proto`), ids and
 * bytes as bytes, enumerations as numbers. A missing field is undefined or null.
 */

/** A 64-bit integer: a number if it is safe, otherwise its two halves or its decimal digits. See `int64.ts`. */
export type Int64 =
  number | string | { readonly low: number; readonly high: number; readonly unsigned: boolean };

type Maybe<T> = T | null | undefined;

/** At most one of the fields is set. */
export interface AnyValue {
  readonly stringValue?: Maybe<string>;
  readonly boolValue?: Maybe<boolean>;
  readonly intValue?: Maybe<Int64>;
  readonly doubleValue?: Maybe<number>;
  readonly arrayValue?: Maybe<{ readonly values?: Maybe<readonly AnyValue[]> }>;
  readonly kvlistValue?: Maybe<{ readonly values?: Maybe<readonly KeyValue[]> }>;
  readonly bytesValue?: Maybe<Uint8Array>;
}

export interface KeyValue {
  readonly key?: Maybe<string>;
  readonly value?: Maybe<AnyValue>;
}

export interface Resource {
  readonly attributes?: Maybe<readonly KeyValue[]>;
}

export interface Scope {
  readonly name?: Maybe<string>;
  readonly version?: Maybe<string>;
  readonly attributes?: Maybe<readonly KeyValue[]>;
}

export interface TracesRequest {
  readonly resourceSpans?: Maybe<readonly ResourceSpans[]>;
}

export interface ResourceSpans {
  readonly resource?: Maybe<Resource>;
  readonly scopeSpans?: Maybe<readonly ScopeSpans[]>;
}

interface ScopeSpans {
  readonly scope?: Maybe<Scope>;
  readonly spans?: Maybe<readonly Span[]>;
}

export interface Span {
  readonly traceId?: Maybe<Uint8Array>;
  readonly spanId?: Maybe<Uint8Array>;
  readonly traceState?: Maybe<string>;
  readonly parentSpanId?: Maybe<Uint8Array>;
  readonly flags?: Maybe<number>;
  readonly name?: Maybe<string>;
  /** 0 unspecified, 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  readonly kind?: Maybe<number>;
  readonly startTimeUnixNano?: Maybe<Int64>;
  readonly endTimeUnixNano?: Maybe<Int64>;
  readonly attributes?: Maybe<readonly KeyValue[]>;
  readonly droppedAttributesCount?: Maybe<number>;
  readonly events?: Maybe<readonly SpanEvent[]>;
  readonly droppedEventsCount?: Maybe<number>;
  readonly links?: Maybe<readonly SpanLink[]>;
  readonly droppedLinksCount?: Maybe<number>;
  /** Code 0 unset, 1 ok, 2 error. */
  readonly status?: Maybe<{ readonly message?: Maybe<string>; readonly code?: Maybe<number> }>;
}

export interface SpanEvent {
  readonly timeUnixNano?: Maybe<Int64>;
  readonly name?: Maybe<string>;
  readonly attributes?: Maybe<readonly KeyValue[]>;
  readonly droppedAttributesCount?: Maybe<number>;
}

export interface SpanLink {
  readonly traceId?: Maybe<Uint8Array>;
  readonly spanId?: Maybe<Uint8Array>;
  readonly traceState?: Maybe<string>;
  readonly attributes?: Maybe<readonly KeyValue[]>;
  readonly droppedAttributesCount?: Maybe<number>;
  readonly flags?: Maybe<number>;
}

export interface MetricsRequest {
  readonly resourceMetrics?: Maybe<readonly ResourceMetrics[]>;
}

interface ResourceMetrics {
  readonly resource?: Maybe<Resource>;
  readonly scopeMetrics?: Maybe<readonly ScopeMetrics[]>;
}

interface ScopeMetrics {
  readonly scope?: Maybe<Scope>;
  readonly metrics?: Maybe<readonly Metric[]>;
}

/** At most one of the five kinds of data is set. Aggregation temporality: 0 unspecified, 1 delta, 2 cumulative. */
export interface Metric {
  readonly name?: Maybe<string>;
  readonly description?: Maybe<string>;
  readonly unit?: Maybe<string>;
  readonly gauge?: Maybe<{ readonly dataPoints?: Maybe<readonly NumberPoint[]> }>;
  readonly sum?: Maybe<{
    readonly dataPoints?: Maybe<readonly NumberPoint[]>;
    readonly aggregationTemporality?: Maybe<number>;
    readonly isMonotonic?: Maybe<boolean>;
  }>;
  readonly histogram?: Maybe<{
    readonly dataPoints?: Maybe<readonly HistogramPoint[]>;
    readonly aggregationTemporality?: Maybe<number>;
  }>;
  readonly exponentialHistogram?: Maybe<{
    readonly dataPoints?: Maybe<readonly ExponentialHistogramPoint[]>;
    readonly aggregationTemporality?: Maybe<number>;
  }>;
  readonly summary?: Maybe<{ readonly dataPoints?: Maybe<readonly SummaryPoint[]> }>;
  readonly metadata?: Maybe<readonly KeyValue[]>;
}

export interface PointBase {
  readonly attributes?: Maybe<readonly KeyValue[]>;
  readonly startTimeUnixNano?: Maybe<Int64>;
  readonly timeUnixNano?: Maybe<Int64>;
  readonly flags?: Maybe<number>;
}

export interface NumberPoint extends PointBase {
  readonly asDouble?: Maybe<number>;
  readonly asInt?: Maybe<Int64>;
  readonly exemplars?: Maybe<readonly Exemplar[]>;
}

export interface HistogramPoint extends PointBase {
  readonly count?: Maybe<Int64>;
  readonly sum?: Maybe<number>;
  readonly bucketCounts?: Maybe<readonly Int64[]>;
  readonly explicitBounds?: Maybe<readonly number[]>;
  readonly exemplars?: Maybe<readonly Exemplar[]>;
  readonly min?: Maybe<number>;
  readonly max?: Maybe<number>;
}

export interface Buckets {
  readonly offset?: Maybe<number>;
  readonly bucketCounts?: Maybe<readonly Int64[]>;
}

export interface ExponentialHistogramPoint extends PointBase {
  readonly count?: Maybe<Int64>;
  readonly sum?: Maybe<number>;
  readonly scale?: Maybe<number>;
  readonly zeroCount?: Maybe<Int64>;
  readonly positive?: Maybe<Buckets>;
  readonly negative?: Maybe<Buckets>;
  readonly exemplars?: Maybe<readonly Exemplar[]>;
  readonly min?: Maybe<number>;
  readonly max?: Maybe<number>;
  readonly zeroThreshold?: Maybe<number>;
}

export interface SummaryPoint extends PointBase {
  readonly count?: Maybe<Int64>;
  readonly sum?: Maybe<number>;
  readonly quantileValues?: Maybe<
    readonly { readonly quantile?: Maybe<number>; readonly value?: Maybe<number> }[]
  >;
}

export interface Exemplar {
  readonly filteredAttributes?: Maybe<readonly KeyValue[]>;
  readonly timeUnixNano?: Maybe<Int64>;
  readonly asDouble?: Maybe<number>;
  readonly asInt?: Maybe<Int64>;
  readonly spanId?: Maybe<Uint8Array>;
  readonly traceId?: Maybe<Uint8Array>;
}

export interface LogsRequest {
  readonly resourceLogs?: Maybe<readonly ResourceLogs[]>;
}

interface ResourceLogs {
  readonly resource?: Maybe<Resource>;
  readonly scopeLogs?: Maybe<readonly ScopeLogs[]>;
}

interface ScopeLogs {
  readonly scope?: Maybe<Scope>;
  readonly logRecords?: Maybe<readonly Log[]>;
}

export interface Log {
  readonly timeUnixNano?: Maybe<Int64>;
  readonly observedTimeUnixNano?: Maybe<Int64>;
  readonly severityNumber?: Maybe<number>;
  readonly severityText?: Maybe<string>;
  readonly body?: Maybe<AnyValue>;
  readonly attributes?: Maybe<readonly KeyValue[]>;
  readonly droppedAttributesCount?: Maybe<number>;
  readonly flags?: Maybe<number>;
  readonly traceId?: Maybe<Uint8Array>;
  readonly spanId?: Maybe<Uint8Array>;
  readonly eventName?: Maybe<string>;
}

/** The result of converting a request's items to Jackdaw's records. */
export interface Mapped<B> {
  readonly batch: B;
  /** The reason for each rejected span, point or record: one sentence that begins with its place. */
  readonly rejected: readonly string[];
}

/** The request of each signal's Export service. */
export interface OtlpRequests {
  traces: TracesRequest;
  metrics: MetricsRequest;
  logs: LogsRequest;
}
