import { requestTypes } from '../../src/otlp/wire/messages.js';
import type { Span, TracesRequest } from '../../src/otlp/wire/requests.js';
import type { TelemetrySignal } from '../../src/signal/batch.js';

/** Times such as 2026-01-15T12:00:00Z in nanoseconds. */
export const START = '1768478400000000000';
const END = '1768478401500000000';

/** A valid span. @param number of the span, 1 to 255, in trace 1 by default */
export function aSpan(number: number, changes: Partial<Span> = {}): Span {
  return {
    traceId: Buffer.alloc(16, 1),
    spanId: Buffer.alloc(8, number),
    name: `span ${number}`,
    kind: 1,
    startTimeUnixNano: START,
    endTimeUnixNano: END,
    ...changes,
  };
}

export function tracesOf(...spans: readonly Span[]): TracesRequest {
  return { resourceSpans: [{ scopeSpans: [{ spans }] }] };
}

/** The smallest request with one item of each signal. */
export const ONE_ITEM = {
  traces: tracesOf(aSpan(1)),
  metrics: {
    resourceMetrics: [
      {
        scopeMetrics: [
          { metrics: [{ name: 'm', gauge: { dataPoints: [{ timeUnixNano: START, asInt: 5 }] } }] },
        ],
      },
    ],
  },
  logs: {
    resourceLogs: [{ scopeLogs: [{ logRecords: [{ timeUnixNano: START, body: { stringValue: 'hi' } }] }] }],
  },
} as const;

/** A request in protobuf. */
export function protobufOf(signal: TelemetrySignal, request: object): Buffer {
  return Buffer.from(requestTypes[signal].encode(request).finish());
}

/** A request in OTLP/JSON: ids in hexadecimal digits. */
export function jsonOf(request: object): string {
  return JSON.stringify(request, (_, value: unknown) =>
    isPrintedBuffer(value) ? Buffer.from(value.data).toString('hex') : value,
  );
}

/** `JSON.stringify` would use the JSON form of a buffer first. */
function isPrintedBuffer(value: unknown): value is { readonly data: readonly number[] } {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === 'Buffer';
}
