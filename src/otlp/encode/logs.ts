import type { LogsBatch } from '../../signal/batch.js';
import type { LogRecord } from '../../signal/log-record.js';
import { microsToNanos } from './int64.js';
import { OriginGroups } from './origin.js';
import { toAnyValue, toKeyValues } from './value.js';
import { spanBytes, traceBytes } from '../wire/ids.js';
import type { Log, LogsRequest } from '../wire/requests.js';

/** Log records as an OTLP request. `logsToRecords` restores them except their ids, which OTLP does not have. */
export function encodeLogs(batch: LogsBatch): LogsRequest {
  const groups = new OriginGroups<Log>();
  for (const record of batch.items)
    groups.itemsOf(record.origin.resource, record.origin.scope).push(encodeLog(record));
  return {
    resourceLogs: groups.groups.map(({ resource, scopes }) => ({
      resource,
      scopeLogs: scopes.map(({ scope, items }) => ({ scope, logRecords: items })),
    })),
  };
}

/** One literal, so that all records have one shape: missing fields are undefined. */
function encodeLog(record: LogRecord): Log {
  const { observed_at: observed, trace_id: trace, span_id: span, body } = record;
  return {
    timeUnixNano: microsToNanos(record.timestamp),
    observedTimeUnixNano: observed === null ? undefined : microsToNanos(observed),
    severityNumber: record.severity_number,
    severityText: record.severity_text,
    body: body === null ? undefined : toAnyValue(body),
    attributes: toKeyValues(record.attributes),
    flags: record.flags,
    traceId: trace === null ? undefined : traceBytes(trace),
    spanId: span === null ? undefined : spanBytes(span),
    eventName: record.event_name,
  };
}
