import { OtlpDecodeError } from '../../otlp/decode/decode-error.js';
import { decodeProtobuf } from '../../otlp/decode/protobuf.js';
import type { LogsRequest, MetricsRequest, TracesRequest } from '../../otlp/wire/requests.js';
import { MOST_BYTES, UnreadableInput, type TelemetryRequest } from './request.js';

/** All three requests start with their only field: the tag of field 1 with a length. */
const TAG = 0x0a;
/** Size of the length prefixes of the Collector's file exporter. */
const LENGTH_BYTES = 4;
const BYTES_PER_FIELD = 4;

/**
 * Splits protobuf data into requests: a single request, or several with length prefixes. Requests do not name their signal; it is
 * the one for which every item has the required fields.
 *
 * @throws UnreadableInput
 */
export function binaryRequests(bytes: Uint8Array): readonly TelemetryRequest[] {
  if (bytes[0] === TAG) return [requestOf(bytes)];
  const requests: TelemetryRequest[] = [];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < bytes.length;) {
    const start = at + LENGTH_BYTES;
    const end = start > bytes.length ? Infinity : start + view.getUint32(at);
    if (end > bytes.length || (end > start && bytes[start] !== TAG))
      throw new UnreadableInput('is neither OTLP/JSON nor an OTLP request in protobuf');
    if (end > start) requests.push(requestOf(bytes.subarray(start, end)));
    at = end;
  }
  return requests;
}

function requestOf(bytes: Uint8Array): TelemetryRequest {
  const traces = attempt(() => decodeProtobuf('traces', bytes, MOST_FIELDS));
  if (traces !== undefined && isTraces(traces)) return { signal: 'traces', request: traces };
  const metrics = attempt(() => decodeProtobuf('metrics', bytes, MOST_FIELDS));
  if (metrics !== undefined && isMetrics(metrics)) return { signal: 'metrics', request: metrics };
  const logs = attempt(() => decodeProtobuf('logs', bytes, MOST_FIELDS));
  if (logs !== undefined && isLogs(logs)) return { signal: 'logs', request: logs };
  throw new UnreadableInput('is not an OTLP request in protobuf');
}

const MOST_FIELDS = MOST_BYTES / BYTES_PER_FIELD;
const TRACE_ID_BYTES = 16;
const SPAN_ID_BYTES = 8;

function isTraces({ resourceSpans }: TracesRequest): boolean {
  const spans = (resourceSpans ?? []).flatMap(({ scopeSpans }) =>
    (scopeSpans ?? []).flatMap(({ spans: some }) => some ?? []),
  );
  return isEvery(
    spans,
    ({ traceId, spanId }) => traceId?.length === TRACE_ID_BYTES && spanId?.length === SPAN_ID_BYTES,
  );
}

function isLogs({ resourceLogs }: LogsRequest): boolean {
  const logs = (resourceLogs ?? []).flatMap(({ scopeLogs }) =>
    (scopeLogs ?? []).flatMap(({ logRecords }) => logRecords ?? []),
  );
  return isEvery(
    logs,
    ({ traceId, spanId }) =>
      [0, TRACE_ID_BYTES].includes(traceId?.length ?? 0) && [0, SPAN_ID_BYTES].includes(spanId?.length ?? 0),
  );
}

function isMetrics({ resourceMetrics }: MetricsRequest): boolean {
  const metrics = (resourceMetrics ?? []).flatMap(({ scopeMetrics }) =>
    (scopeMetrics ?? []).flatMap(({ metrics: some }) => some ?? []),
  );
  // A record's time, read as a name, has bytes that are not letters.
  return isEvery(
    metrics,
    ({ name, gauge, sum, histogram, exponentialHistogram, summary }) =>
      /^[^\p{C}\ufffd]+$/u.test(name ?? '') &&
      Boolean(gauge ?? sum ?? histogram ?? exponentialHistogram ?? summary),
  );
}

function isEvery<Item>(items: readonly Item[], holds: (item: Item) => boolean): boolean {
  return items.length > 0 && items.every(holds);
}

function attempt<Value>(decode: () => Value): Value | undefined {
  try {
    return decode();
  } catch (error) {
    if (error instanceof OtlpDecodeError) return undefined;
    throw error;
  }
}
