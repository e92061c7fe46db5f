import type { LogsBatch } from '../../signal/batch.js';
import type { JsonObject } from '../../signal/attributes.js';
import { uuidV7InOrder } from '../../signal/ids.js';
import type { LogRecord } from '../../signal/log-record.js';
import type { Origin } from '../../signal/origin.js';
import type { Micros } from '../../signal/time.js';
import { toJson, toJsonObject } from './any-value.js';
import { spanUuid, traceUuid } from '../wire/ids.js';
import { int64ToJson, nanosToMicros } from '../wire/int64.js';
import { originOf } from './origin.js';
import type { Int64, Log, LogsRequest, Mapped } from '../wire/requests.js';
import { SEVERITIES, type Severity } from '../../signal/log-record.js';

/** Numbers that each severity has: 1 to 4 are `trace`, 5 to 8 `debug`, and so on. */
const NUMBERS_EACH = 4;

/** Severity names beyond OpenTelemetry's own, in upper case (including syslog's short forms). */
const NAMES: ReadonlyMap<string, Severity> = new Map<string, Severity>([
  ...SEVERITIES.map((severity): [string, Severity] => [severity.toUpperCase(), severity]),
  ['VERBOSE', 'debug'],
  ['INFORMATION', 'info'],
  ['NOTICE', 'info'],
  ['WARNING', 'warn'],
  ['ERR', 'error'],
  ['CRITICAL', 'fatal'],
  ['CRIT', 'fatal'],
  ['EMERGENCY', 'fatal'],
  ['EMERG', 'fatal'],
  ['ALERT', 'fatal'],
  ['PANIC', 'fatal'],
]);
/** OpenTelemetry's short names of the finer steps: `INFO2`. */
const STEP = /[2-4]$/;

/** The severity of a log record: by its number, else by its text, else `info`. */
function severityOf(number: number, text: string): Severity {
  if (number >= 1) {
    const severity = SEVERITIES[Math.floor((number - 1) / NUMBERS_EACH)];
    if (severity !== undefined) return severity;
  }
  if (text === '') return 'info';
  const name = text.trim().toUpperCase();
  return NAMES.get(name) ?? NAMES.get(name.replace(STEP, '')) ?? 'info';
}

type Maybe<T> = T | null | undefined;

/** Keys of values that could not be stored as they were sent, next to the sender's attributes. */
const INVALID = {
  traceId: 'otlp.invalid_trace_id',
  spanId: 'otlp.invalid_span_id',
  time: 'otlp.invalid_time_unix_nano',
  observedTime: 'otlp.invalid_observed_time_unix_nano',
} as const;
/** The name that OpenTelemetry's exporters to other formats use. */
const DROPPED_ATTRIBUTES = 'otel.dropped_attributes_count';
/** Bytes of an invalid id that are kept, enough to recognize it. */
const MAX_NOTED_BYTES = 64;

/**
 * The records of an OTLP request, in its order. No record is rejected: invalid ids and times are left out and noted as
 * attributes. A record without a time gets the time of observation, else the time of arrival.
 */
export function logsToRecords(
  request: LogsRequest,
  { tenant, receivedAt }: { readonly tenant: string; readonly receivedAt: Micros },
): Mapped<LogsBatch> {
  const items: LogRecord[] = [];
  const receivedMs = Math.floor(receivedAt / 1000);
  for (const { resource, scopeLogs } of request.resourceLogs ?? []) {
    for (const { scope, logRecords } of scopeLogs ?? []) {
      const origin = originOf(resource, scope);
      for (const log of logRecords ?? []) {
        items.push(toRecord(log, origin, uuidV7InOrder(receivedMs, items.length), receivedAt));
      }
    }
  }
  return { batch: { tenant, items }, rejected: [] };
}

function toRecord(log: Log, origin: Origin, id: string, receivedAt: Micros): LogRecord {
  const attributes = toJsonObject(log.attributes);
  if (log.droppedAttributesCount) attributes[DROPPED_ATTRIBUTES] = log.droppedAttributesCount;
  const time = readTime(log.timeUnixNano, attributes, INVALID.time);
  const observed = readTime(log.observedTimeUnixNano, attributes, INVALID.observedTime);
  const traceId = traceUuid(log.traceId);
  if (traceId === undefined) noteId(attributes, INVALID.traceId, log.traceId);
  const spanId = traceId === undefined ? undefined : spanUuid(traceId, log.spanId);
  if (spanId === undefined) noteId(attributes, INVALID.spanId, log.spanId);
  const severityNumber = log.severityNumber ?? 0;
  const severityText = log.severityText ?? '';
  return {
    id,
    timestamp: time ?? observed ?? receivedAt,
    observed_at: observed ?? null,
    severity: severityOf(severityNumber, severityText),
    severity_number: severityNumber,
    severity_text: severityText,
    body: toJson(log.body),
    trace_id: traceId ?? null,
    span_id: spanId ?? null,
    flags: log.flags ?? 0,
    event_name: log.eventName ? log.eventName : null,
    attributes,
    origin,
  };
}

/** @returns undefined if absent, which OTLP writes as 0 */
function readTime(sent: Maybe<Int64>, attributes: JsonObject, note: string): Micros | undefined {
  if (sent === null || sent === undefined || sent === 0) return undefined;
  const micros = nanosToMicros(sent);
  if (micros === undefined) attributes[note] = int64ToJson(sent);
  return micros === 0 && isZero(sent) ? undefined : micros;
}

function isZero(sent: Int64): boolean {
  return typeof sent === 'object' ? sent.low === 0 && sent.high === 0 : Number(sent) === 0;
}

/** Records an invalid id. A missing or all-zero id means no id. */
function noteId(attributes: JsonObject, key: string, id: Maybe<Uint8Array>): void {
  if (!id || id.every((byte) => byte === 0)) return;
  attributes[key] = Buffer.from(id.subarray(0, MAX_NOTED_BYTES)).toString('hex');
}
