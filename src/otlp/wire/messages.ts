import type { Reader, Writer } from 'protobufjs/minimal.js';
import type { TelemetrySignal } from '../../signal/batch.js';
import * as generated from './generated/messages.js';
import type {
  AnyValue,
  Int64,
  KeyValue,
  OtlpRequests,
  Resource,
  ResourceSpans,
  Scope,
  Span,
  SpanEvent,
  SpanLink,
} from './requests.js';

/** A message type of the generated code. */
export interface MessageType<T> {
  /**
   * @param length of the message, if the bytes extend past it
   * @param depth of the messages around it
   * @param into receives the fields, as later parts of one message add to the earlier
   * @throws Error for invalid bytes, and for messages nested deeper than 100 levels
   */
  decode(from: Reader | Uint8Array, length?: number, end?: undefined, depth?: number, into?: T): T;
  /** Only own fields are written. Int64 in any of its forms. @throws Error for messages nested deeper than 100 levels */
  encode(message: T): Writer;
}

/** The rejected part of a request; the name of the count depends on the signal. */
export interface PartialSuccess {
  readonly rejectedSpans?: Int64;
  readonly rejectedDataPoints?: Int64;
  readonly rejectedLogRecords?: Int64;
  readonly errorMessage?: string;
}

export interface ExportResponse {
  readonly partialSuccess?: PartialSuccess | null;
}

interface Any {
  readonly type_url: string;
  readonly value: Uint8Array;
}

export interface RpcStatus {
  readonly code?: number;
  readonly message?: string;
  readonly details?: readonly Any[];
}

interface RetryInfo {
  readonly retryDelay?: { readonly seconds?: Int64; readonly nanos?: number } | null;
}

interface BadRequest {
  readonly fieldViolations?: readonly { readonly field?: string; readonly description?: string }[];
}

type Requests = { readonly [S in TelemetrySignal]: MessageType<OtlpRequests[S]> };

// The generated code has no types.
const { opentelemetry, google } = generated as unknown as {
  readonly opentelemetry: {
    readonly proto: {
      readonly common: {
        readonly v1: {
          readonly KeyValue: MessageType<KeyValue>;
          readonly AnyValue: MessageType<AnyValue>;
          readonly InstrumentationScope: MessageType<Scope>;
        };
      };
      readonly resource: { readonly v1: { readonly Resource: MessageType<Resource> } };
      readonly trace: {
        readonly v1: {
          readonly ResourceSpans: MessageType<ResourceSpans>;
          readonly Span: MessageType<Span> & {
            readonly Event: MessageType<SpanEvent>;
            readonly Link: MessageType<SpanLink>;
          };
          readonly Status: MessageType<NonNullable<Span['status']>>;
        };
      };
      readonly collector: {
        readonly trace: {
          readonly v1: {
            readonly ExportTraceServiceRequest: Requests['traces'];
            readonly ExportTraceServiceResponse: MessageType<ExportResponse>;
          };
        };
        readonly metrics: {
          readonly v1: {
            readonly ExportMetricsServiceRequest: Requests['metrics'];
            readonly ExportMetricsServiceResponse: MessageType<ExportResponse>;
          };
        };
        readonly logs: {
          readonly v1: {
            readonly ExportLogsServiceRequest: Requests['logs'];
            readonly ExportLogsServiceResponse: MessageType<ExportResponse>;
          };
        };
      };
    };
  };
  readonly google: {
    readonly rpc: {
      readonly Status: MessageType<RpcStatus>;
      readonly RetryInfo: MessageType<RetryInfo>;
      readonly BadRequest: MessageType<BadRequest>;
    };
  };
};
const { trace, metrics, logs } = opentelemetry.proto.collector;

/** The message types of trace requests. */
export const keyValueType = opentelemetry.proto.common.v1.KeyValue;
export const anyValueType = opentelemetry.proto.common.v1.AnyValue;
export const scopeType = opentelemetry.proto.common.v1.InstrumentationScope;
export const resourceType = opentelemetry.proto.resource.v1.Resource;
export const resourceSpansType = opentelemetry.proto.trace.v1.ResourceSpans;
export const spanType = opentelemetry.proto.trace.v1.Span;
export const statusOfSpanType = opentelemetry.proto.trace.v1.Status;

/** `Export…ServiceRequest` of each signal. */
export const requestTypes: Requests = {
  traces: trace.v1.ExportTraceServiceRequest,
  metrics: metrics.v1.ExportMetricsServiceRequest,
  logs: logs.v1.ExportLogsServiceRequest,
};

/** `Export…ServiceResponse` of each signal. */
export const responseTypes: Readonly<Record<TelemetrySignal, MessageType<ExportResponse>>> = {
  traces: trace.v1.ExportTraceServiceResponse,
  metrics: metrics.v1.ExportMetricsServiceResponse,
  logs: logs.v1.ExportLogsServiceResponse,
};

/** `google.rpc.Status`, the body of every failure, and its details. */
export const statusType = google.rpc.Status;
export const retryInfoType = google.rpc.RetryInfo;
export const badRequestType = google.rpc.BadRequest;
