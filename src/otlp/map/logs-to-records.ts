import type { LogsBatch } from '../../signal/batch.js';
import type { JsonObject, JsonValue } from '../../signal/attributes.js';
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

/** Severity names in upper case: OpenTelemetry's, those of syslog, java.util.logging and others, letters of glog, short forms. */
const NAMES_OF: Readonly<Record<Severity, string>> = {
  trace: 'TRACE TRC T FINEST ALL',
  debug: 'DEBUG DBG D VERBOSE VRB V FINE FINER CONFIG',
  info: 'INFO INF I INFORMATION INFORMATIONAL NOTICE N LOG DEFAULT SUCCESS',
  warn: 'WARN WRN W WARNING',
  error: 'ERROR ERR E SEVERE',
  fatal: 'FATAL FTL F CRITICAL CRIT C EMERGENCY EMERG ALERT A PANIC DPANIC FAULT',
};
const NAMES: ReadonlyMap<string, Severity> = new Map(
  SEVERITIES.flatMap((severity) => NAMES_OF[severity].split(' ').map((name) => [name, severity] as const)),
);
/** Finer steps: OpenTelemetry's `INFO2`, PostgreSQL's `DEBUG5`, Go's `INFO+2`. */
const STEP = /(?:[1-5]|[+-]\d{1,3})$/;
/** By syslog severity, 0 to 7. */
const OF_SYSLOG: readonly Severity[] = ['fatal', 'fatal', 'fatal', 'error', 'warn', 'info', 'info', 'debug'];
/** The number of `trace` in pino and Bunyan; each further severity is 10 more. */
const LEAST_OF_PINO = 10;

/** The severity of a log record: by its number, else by its text, else `info`. */
function severityOf(number: number, text: string): Severity {
  if (number >= 1) {
    const severity = SEVERITIES[Math.floor((number - 1) / NUMBERS_EACH)];
    if (severity !== undefined) return severity;
  }
  if (text === '') return 'info';
  const name = text.trim().toUpperCase();
  return NAMES.get(name) ?? NAMES.get(name.replace(STEP, '')) ?? severityOfNumber(name) ?? 'info';
}

/** The severity of a text that is a number of syslog or pino. */
function severityOfNumber(text: string): Severity | undefined {
  if (!/^\d{1,2}$/.test(text)) return undefined;
  const number = Number(text);
  return OF_SYSLOG[number] ?? SEVERITIES[Math.floor(number / LEAST_OF_PINO) - 1];
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
/**
 * Attributes with the trace context of formats that have no field for it: OpenTelemetry's names, also as other writers spell them.
 * Ids are hexadecimal.
 */
const CONTEXT_NAMES = {
  trace: ['trace_id', 'traceId', 'TraceId', 'traceid', 'trace.id'],
  span: ['span_id', 'spanId', 'SpanId', 'spanid', 'span.id'],
  flags: ['trace_flags', 'traceFlags', 'TraceFlags', 'trace.flags'],
} as const;
const TRACE_ID = /^(?:[\da-f]{32}|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/i;
const SPAN_ID = /^[\da-f]{16}$/i;
const FLAGS = /^[\da-f]{2}$/i;
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
  const sentTrace = traceUuid(log.traceId);
  const traceId = sentTrace ?? traceUuid(contextId(attributes, 'trace', TRACE_ID));
  if (sentTrace === undefined) noteId(attributes, INVALID.traceId, log.traceId);
  const sentSpan = traceId === undefined ? undefined : spanUuid(traceId, log.spanId);
  const spanId = sentSpan ?? (traceId && spanUuid(traceId, contextId(attributes, 'span', SPAN_ID)));
  if (sentSpan === undefined) noteId(attributes, INVALID.spanId, log.spanId);
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
    flags: log.flags || contextFlags(attributes, sentTrace !== undefined),
    event_name: log.eventName ? log.eventName : null,
    attributes,
    origin,
  };
}

/** An id among the attributes, for a record without that field. */
function contextId(
  attributes: JsonObject,
  kind: keyof typeof CONTEXT_NAMES,
  form: RegExp,
): Uint8Array | undefined {
  const id = contextValue(attributes, kind);
  return typeof id === 'string' && form.test(id) ? Buffer.from(id.replaceAll('-', ''), 'hex') : undefined;
}

/** @param isSent whether the record has the trace id as a field, and therefore its flags */
function contextFlags(attributes: JsonObject, isSent: boolean): number {
  const flags = isSent ? undefined : contextValue(attributes, 'flags');
  if (typeof flags === 'string' && FLAGS.test(flags)) return Number.parseInt(flags, 16);
  return typeof flags === 'number' && Number.isInteger(flags) && flags >= 0 && flags <= 255 ? flags : 0;
}

function contextValue(attributes: JsonObject, kind: keyof typeof CONTEXT_NAMES): JsonValue | undefined {
  const name = CONTEXT_NAMES[kind].find((known) => attributes[known] !== undefined);
  return name && attributes[name];
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
