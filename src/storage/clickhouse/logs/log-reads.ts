import type { JsonObject } from '../../../signal/attributes.js';
import { itemAt } from '../../../signal/checked.js';
import { parseJson } from '../../../signal/json.js';
import { SEVERITIES } from '../../../signal/log-record.js';
import type {
  FoundLogs,
  LogBuckets,
  LogFacets,
  LogFilter,
  LogGroups,
  LogPage,
  LogCursor,
  Logs,
  StoredLog,
} from '../../contracts/logs.js';
import type { Row } from '../client/connection.js';
import { shownEventName } from '../../shared/logged-events.js';
import { quotedUuid } from '../client/literals.js';
import type { StoreHandle } from '../client/store-handle.js';
import { isBehind, logCondition, recordsAt } from './log-condition.js';
import { readLogFacets, readLogGroups } from './log-facets.js';

const NEWEST_FIRST = 'ORDER BY timestamp DESC, toUInt128(id) DESC';

const SHOWN =
  'toString(id) AS shown_id, timestamp, severity, service_name, event_name, toString(trace_id) AS shown_trace, toString(span_id) AS shown_span, body, attributes';
const DETAILS = 'observed_at, severity_number, severity_text, flags, origin';

/** The contract `Logs`. */
export class LogReads implements Logs {
  readonly #handle: StoreHandle;

  constructor(handle: StoreHandle) {
    this.#handle = handle;
  }

  async search(userId: string, filter: LogFilter, page: LogPage, abort?: AbortSignal): Promise<FoundLogs> {
    const tenant = await this.#handle.tenantOf(userId);
    const { offset, limit, after, details = false } = page;
    const found = [logCondition(tenant, filter), ...(after === undefined ? [] : [isBehind(after)])].join(
      ' AND ',
    );
    // One extra row shows whether another page follows.
    const places = `SELECT id, timestamp FROM logs WHERE ${found} ${NEWEST_FIRST} LIMIT ${String(limit + 1)} OFFSET ${String(offset)}`;
    const [row] = await this.#handle.connection.rows(
      `SELECT (SELECT count() FROM logs WHERE ${found}) AS found, groupArray(toString(id)) AS ids, groupArray(timestamp) AS times FROM (${places})`,
      abort,
    );
    const ids = (row?.ids ?? []) as readonly string[];
    const times = (row?.times ?? []) as readonly number[];
    const all = ids.map((id, at): LogCursor => ({ id, timestamp: itemAt(times, at) }));
    const shown = all.slice(0, limit);
    return {
      count: Number(row?.found ?? 0),
      items: this.#records(tenant, shown, details, abort),
      next: all.length > limit ? (shown.at(-1) ?? null) : null,
    };
  }

  async facets(
    userId: string,
    filter: Omit<LogFilter, 'start_time' | 'end_time'>,
    buckets: LogBuckets,
    abort?: AbortSignal,
  ): Promise<LogFacets> {
    const tenant = await this.#handle.tenantOf(userId);
    return await readLogFacets(this.#handle.connection, tenant, filter, buckets, abort);
  }

  async groups(
    userId: string,
    filter: LogFilter,
    attributes: readonly string[],
    abort?: AbortSignal,
  ): Promise<LogGroups> {
    const tenant = await this.#handle.tenantOf(userId);
    return await readLogGroups(this.#handle.connection, tenant, filter, attributes, abort);
  }

  async findTrace(userId: string, logId: string, abort?: AbortSignal): Promise<string | null> {
    const tenant = await this.#handle.tenantOf(userId);
    const [row] = await this.#handle.connection.rows(
      `SELECT toString(trace_id) AS trace FROM logs WHERE tenant = ${String(tenant)} AND id = ${quotedUuid(logId)} LIMIT 1`,
      abort,
    );
    return (row?.trace ?? null) as string | null;
  }

  /** Records are immutable, so they can be read after their places. @param places newest first */
  async *#records(
    tenant: number,
    places: readonly LogCursor[],
    details: boolean,
    abort: AbortSignal | undefined,
  ): AsyncGenerator<readonly StoredLog[]> {
    if (places.length === 0) return;
    const pages = this.#handle.connection.pages(
      `SELECT ${SHOWN}${details ? `, ${DETAILS}` : ''} FROM logs WHERE ${recordsAt(tenant, places)} ${NEWEST_FIRST}`,
      abort,
    );
    for await (const rows of pages) yield rows.map((row) => storedLog(row, details));
  }
}

function storedLog(row: Row, details: boolean): StoredLog {
  return {
    id: String(row.shown_id),
    timestamp: Number(row.timestamp),
    severity: itemAt(SEVERITIES, Number(row.severity)),
    service_name: String(row.service_name),
    event_name: shownEventName(row),
    trace_id: textOrNull(row.shown_trace),
    span_id: textOrNull(row.shown_span),
    body: textOrNull(row.body),
    attributes: jsonOf(row.attributes) ?? {},
    ...(details && { details: detailsOf(row) }),
  };
}

function detailsOf(row: Row): NonNullable<StoredLog['details']> {
  const origin = jsonOf(row.origin) ?? {};
  return {
    observed_at: row.observed_at === null ? null : Number(row.observed_at),
    severity_number: Number(row.severity_number),
    severity_text: String(row.severity_text),
    flags: Number(row.flags),
    resource: (origin.resource ?? {}) as JsonObject,
    scope: (origin.scope ?? null) as JsonObject | null,
  };
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function jsonOf(value: unknown): JsonObject | null {
  return typeof value === 'string' ? (parseJson(value) as JsonObject) : null;
}
