import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import type {
  ClickHouseClient,
  ClickHouseClientConfigOptions,
  ClickHouseSettings,
  ResultSet,
} from '@clickhouse/client';
import { readPem } from '../../../config/client-tls.js';
import type { ClickHouseOptions, ClickHouseTls } from '../clickhouse-options.js';
import { ClickHouseFailure, givenUp, toConsumeError, toFailure } from './failure.js';
import { named } from './literals.js';
import { rowBinary, type BinaryRow, type TypedColumn } from './row-binary.js';
import { Servers } from './servers.js';

/** A row of a result: values by column names. Integers are numbers, UUIDs lower-case strings. */
export type Row = Readonly<Record<string, unknown>>;

/** Delays in milliseconds between the attempts of a statement whose failure may be temporary. */
const PAUSES_MS: readonly number[] = [50, 250, 1000];

const SETTINGS: ClickHouseSettings = {
  // An acknowledged insert is durable and visible to later reads.
  async_insert: 0,
  wait_for_async_insert: 1,
  // A repeated insert with the same token adds nothing, including to the tables that views fill.
  insert_deduplicate: 1,
  deduplicate_blocks_in_dependent_materialized_views: 1,
  // Rows of two partitions never replace each other.
  do_not_merge_across_partitions_select_final: 1,
  // All parts of a statement read the same snapshot.
  enable_shared_storage_snapshot_in_query: 1,
  // Statements contain lists of ids.
  max_query_size: '67108864',
  max_ast_elements: '4000000',
  max_expanded_ast_elements: '4000000',
  output_format_json_quote_64bit_integers: 0,
  output_format_json_quote_denormals: 1,
  output_format_json_named_tuples_as_objects: 1,
  date_time_output_format: 'iso',
};

/** For reads: the server cancels a statement when its connection closes. */
const READ_SETTINGS: ClickHouseSettings = {
  readonly: '2',
  cancel_http_readonly_queries_on_client_close: 1,
};

/** Options of a request. */
interface Asked {
  /** Aborted when the client disconnects. */
  readonly abort?: AbortSignal | undefined;
  readonly settings?: ClickHouseSettings;
}

/** Statements for a store in ClickHouse. All methods throw a `ConsumeError` (`failure.ts`). */
export class Connection {
  readonly #servers: Servers;

  private constructor(servers: Servers) {
    this.#servers = servers;
  }

  /**
   * Loads the client library lazily. Sends no request.
   *
   * @param database null for statements that need none
   */
  static async open(options: ClickHouseOptions, { database, now }: ConnectionPlace): Promise<Connection> {
    const { createClient, ClickHouseLogLevel } = await import('@clickhouse/client');
    const tls = await tlsOptions(options.tls);
    const clients = options.urls.map((url) =>
      createClient({
        ...clientOptions(options),
        ...tls,
        url,
        ...(database !== null && { database }),
        // The client's log would contain statements with user data.
        log: { level: ClickHouseLogLevel.OFF },
      }),
    );
    return new Connection(new Servers(clients, now));
  }

  /** All rows of a result, held in memory. @param sql without FORMAT */
  async rows(sql: string, abort?: AbortSignal): Promise<readonly Row[]> {
    return await this.#trying({ abort }, async (client) => {
      const answer = await this.#ask(client, sql, abort);
      const leave = onAbort(abort, () => {
        answer.close();
      });
      return await answer.json<Row>().finally(leave);
    });
  }

  /** Streams the rows of a result in pages. Ending the iteration cancels the statement. */
  async *pages(sql: string, abort?: AbortSignal): AsyncGenerator<readonly Row[]> {
    const stream = await this.#trying({ abort }, async (client) =>
      (await this.#ask(client, sql, abort)).stream<Row>(),
    );
    const leave = onAbort(abort, () => stream.destroy());
    try {
      for await (const rows of stream as AsyncIterable<readonly { json(): Row }[]>)
        if (rows.length > 0) yield rows.map((row) => row.json());
    } catch (error) {
      throw toConsumeError(error);
    } finally {
      leave();
      stream.destroy();
    }
  }

  async #ask(
    client: ClickHouseClient,
    sql: string,
    abort: AbortSignal | undefined,
  ): Promise<ResultSet<'JSONEachRow'>> {
    const settings = READ_SETTINGS;
    return await client.query({ query: sql, format: 'JSONEachRow', ...asked({ abort, settings }) });
  }

  /**
   * Adds rows to a table, atomically per partition. Retries if no response arrives.
   *
   * @param rows in the form of {@link rowBinary}
   * @param token unique id of the insert within the table, so that a retry adds nothing twice. Null if rows replace those of the same key:
   *   a server without replicas records a token before the rows, and if it is killed in between, it drops the next attempt as a repeat
   *   (`../tables/grouped-inserts.ts`).
   * @returns whether the insert was retried
   */
  async insert(
    table: string,
    columns: readonly TypedColumn[],
    rows: readonly BinaryRow[],
    token: string | null,
  ): Promise<boolean> {
    if (rows.length === 0) return false;
    const body = bodyOf(columns, rows);
    const names = columns.map(({ name }) => named(name)).join(', ');
    return await this.#trying({}, async (client, attempt) => {
      const { stream } = await client.exec({
        query: `INSERT INTO ${table} (${names}) FORMAT RowBinary`,
        values: Readable.from(body, { objectMode: false }),
        decompress_response_stream: false,
        ...asked({ settings: { insert_deduplication_token: token ?? randomUUID() } }),
      });
      // The body is empty, but the connection is released only at its end.
      await finished(stream.resume());
      return attempt > 0;
    });
  }

  /** Runs an idempotent statement without a result. It must not contain user data. */
  async command(sql: string, settings: ClickHouseSettings = {}): Promise<void> {
    await this.#trying({ isOurs: true }, (client) => client.command({ query: sql, ...asked({ settings }) }));
  }

  /** The same for a statement that is not idempotent: no retry. If no response arrives, it may or may not have run. */
  async commandOnce(sql: string): Promise<void> {
    await this.#trying({ isOurs: true, isOnce: true }, (client) => client.command({ query: sql }));
  }

  async close(): Promise<void> {
    await this.#servers.close();
  }

  async #trying<Result>(
    {
      abort,
      isOurs,
      isOnce = false,
    }: { readonly abort?: AbortSignal | undefined; readonly isOurs?: boolean; readonly isOnce?: boolean },
    work: (client: ClickHouseClient, attempt: number) => Promise<Result>,
  ): Promise<Result> {
    for (let attempt = 0; ; attempt++) {
      const client = await this.#servers.client();
      // The client ignores a signal that was aborted before the request.
      if (abort?.aborted === true) throw toConsumeError(givenUp());
      try {
        return await work(client, attempt);
      } catch (error) {
        const failure = toFailure(error, isOurs);
        if (failure.kind === 'unreachable' || failure.kind === 'unavailable')
          await this.#servers.failed(client);
        const pause = PAUSES_MS[attempt];
        if (isOnce || !failure.isPassing || pause === undefined) throw toConsumeError(failure);
        await wait(pause);
      }
    }
  }
}

/** Dependencies of a connection. */
export interface ConnectionPlace {
  /** Null for statements that need none, such as CREATE DATABASE. */
  readonly database: string | null;
  /** Milliseconds. */
  readonly now: () => number;
}

/** The qualified name of a table. */
export function placeOf(database: string, table: string): string {
  return `${named(database)}.${named(table)}`;
}

/** @throws ConsumeError `internal_error` for a row that does not fit the columns */
function bodyOf(columns: readonly TypedColumn[], rows: readonly BinaryRow[]): readonly Buffer[] {
  try {
    return rowBinary(columns, rows);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw toConsumeError(new ClickHouseFailure(message, 'mistaken'));
  }
}

/** The client ignores the signal once the response begins. @returns a function that removes the listener */
function onAbort(abort: AbortSignal | undefined, end: () => void): () => void {
  if (abort?.aborted === true) end();
  abort?.addEventListener('abort', end, { once: true });
  return () => abort?.removeEventListener('abort', end);
}

function asked({ abort, settings }: Asked): {
  readonly abort_signal?: AbortSignal;
  readonly clickhouse_settings?: ClickHouseSettings;
} {
  return {
    ...(abort !== undefined && { abort_signal: abort }),
    ...(settings !== undefined && { clickhouse_settings: settings }),
  };
}

function clientOptions(options: ClickHouseOptions): ClickHouseClientConfigOptions {
  const { username, password, connections, timeoutMs, isReplicated } = options;
  return {
    application: 'jackdaw',
    username,
    password,
    request_timeout: timeoutMs,
    max_open_connections: connections,
    compression: { request: false, response: true },
    keep_alive: { idle_socket_ttl: 2500, eagerly_destroy_stale_sockets: true },
    clickhouse_settings: { ...SETTINGS, ...(isReplicated && { insert_quorum: '2' }) },
  };
}

/** @throws Error that names a file that cannot be read */
async function tlsOptions({ ca, cert, key }: ClickHouseTls): Promise<ClickHouseClientConfigOptions> {
  const [ca_cert, certificate, itsKey] = await Promise.all([
    readPem('tls.ca_file', ca),
    readPem('tls.cert_file', cert),
    readPem('tls.key_file', key),
  ]);
  if (ca_cert === undefined) return {};
  if (certificate === undefined || itsKey === undefined) return { tls: { ca_cert } };
  return { tls: { ca_cert, cert: certificate, key: itsKey } };
}
