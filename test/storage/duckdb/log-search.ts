import { serializeLog } from '../../../src/api/resources/logs.js';
import { formatTime } from '../../../src/signal/time.js';
import type { JsonObject } from '../../../src/signal/attributes.js';
import type { LogRecord } from '../../../src/signal/log-record.js';
import type { LogFilter, LogPage } from '../../../src/storage/contracts/logs.js';
import type { TelemetryStore } from '../../../src/storage/contracts/telemetry-store.js';
import { listOf } from '../../support/read-pieces.js';

/** A log record in the API format. */
export interface ShownLog {
  readonly id: string;
  readonly timestamp: string;
  readonly severity: string;
  readonly service_name: string;
  readonly event_name?: string;
  readonly body: string | null;
  readonly trace_id: string | null;
  readonly span_id: string | null;
  readonly attributes: JsonObject;
}

/** Reads a search page to its end. */
export async function searchLogs(
  store: Pick<TelemetryStore, 'logs'>,
  tenant: string,
  filter: LogFilter = {},
  page: LogPage = { offset: 0, limit: 1000 },
): Promise<{ readonly count: number; readonly items: readonly ShownLog[] }> {
  const { count, items } = await store.logs.search(tenant, filter, page);
  return { count, items: await listOf(items, serializeLog) };
}

export function shownLog(log: LogRecord): ShownLog {
  const { id, timestamp, severity, origin, event_name, trace_id, span_id, attributes } = log;
  return {
    id,
    timestamp: formatTime(timestamp),
    severity,
    service_name: origin.serviceName,
    ...(event_name !== null && { event_name }),
    body: bodyText(log),
    trace_id,
    span_id,
    attributes,
  };
}

export function bodyText({ body }: LogRecord): string | null {
  return typeof body === 'string' || body === null ? body : JSON.stringify(body);
}
