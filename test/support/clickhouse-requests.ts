import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';

/** Settings that only the HTTP server interprets: both must be set, or the rule does not hold. */
const ENDS_WITH_CLIENT = ['readonly', 'cancel_http_readonly_queries_on_client_close'] as const;

/** Request parameters that are not settings. */
const NO_SETTINGS = new Set([
  'query',
  'query_id',
  'database',
  'default_format',
  'user',
  'password',
  'session_id',
  'session_timeout',
  'role',
  'enable_http_compression',
  'wait_end_of_query',
  'send_progress_in_http_headers',
  'http_headers_progress_interval_ms',
  ...ENDS_WITH_CLIENT,
]);

/** A complete request of ClickHouse's HTTP interface. */
export interface ClickHouseRequest {
  /** Without a FORMAT clause, for queries. */
  readonly sql: string;
  readonly format: string;
  /** Rows to insert; null for other statements. */
  readonly data: Buffer | null;
  readonly database: string;
  /** As sent: escaped like TabSeparated. */
  readonly params: ReadonlyMap<string, string>;
  readonly settings: ReadonlyMap<string, string>;
  readonly wantsGzip: boolean;
  /** Whether closing the connection cancels the statement. */
  readonly endsWithClient: boolean;
}

export async function readRequest(request: IncomingMessage): Promise<ClickHouseRequest> {
  const search = new URL(request.url ?? '/', 'http://localhost').searchParams;
  const isPacked = request.headers['content-encoding'] === 'gzip';
  const body = await buffer(isPacked ? request.pipe(createGunzip()) : request);
  const query = search.get('query');
  const text = query ?? body.toString();
  const [, sql = text, format = 'TabSeparated'] = /^([^]*?)\s*FORMAT\s+(\w+)\s*$/i.exec(text) ?? [];
  const params = new Map<string, string>();
  const settings = new Map<string, string>();
  for (const [name, value] of search) {
    if (name.startsWith('param_')) params.set(name.slice('param_'.length), value);
    else if (!NO_SETTINGS.has(name)) settings.set(name, value);
  }
  const isInsert = /^\s*INSERT\s/i.test(text) && query !== null;
  return {
    sql,
    format,
    data: isInsert ? body : null,
    database: search.get('database') ?? 'default',
    params,
    settings,
    endsWithClient: ENDS_WITH_CLIENT.every((name) => Number(search.get(name)) > 0),
    wantsGzip:
      search.get('enable_http_compression') === '1' &&
      String(request.headers['accept-encoding']).includes('gzip'),
  };
}

/** A parameter used by the statement and missing in the request, which a connection may still have from an earlier request. */
export function missingParam({ sql, params }: ClickHouseRequest): string | undefined {
  return [...sql.matchAll(/\{(\w+):/g)].map(([, name = '']) => name).find((name) => !params.has(name));
}
