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

/** A row of an answer: its values under the names of the columns. Whole numbers are numbers, UUIDs texts in lower case. */
export type Row = Readonly<Record<string, unknown>>;

/** A statement is tried so often where its failure may pass, with these pauses in milliseconds between the tries. */
const PAUSES_MS: readonly number[] = [50, 250, 1000];

const SETTINGS: ClickHouseSettings = {
  // What is answered for is stored, and read by whoever asks then.
  async_insert: 0,
  wait_for_async_insert: 1,
  // An insert that is repeated under its token adds nothing, to the tables that views fill neither.
  insert_deduplicate: 1,
  deduplicate_blocks_in_dependent_materialized_views: 1,
  // Rows of two partitions never replace each other.
  do_not_merge_across_partitions_select_final: 1,
  // All parts of a statement see the same rows.
  enable_shared_storage_snapshot_in_query: 1,
  // Lists of ids stand in statements.
  max_query_size: '67108864',
  max_ast_elements: '4000000',
  max_expanded_ast_elements: '4000000',
  output_format_json_quote_64bit_integers: 0,
  output_format_json_quote_denormals: 1,
  output_format_json_named_tuples_as_objects: 1,
  date_time_output_format: 'iso',
};

/** Of statements that only ask: the server ends one whose connection was closed, as nobody waits for it any more. */
const READ_SETTINGS: ClickHouseSettings = {
  readonly: '2',
  cancel_http_readonly_queries_on_client_close: 1,
};

/** What there is to say of a request beside its statement. */
interface Asked {
  /** Ends when the client disconnected. */
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
   * Loads the client, which nothing else does, and asks nobody yet.
   *
   * @param database null for statements that need none
   * @param changed told of a server that is used after another one
   */
  static async open(
    options: ClickHouseOptions,
    { database, now }: ConnectionPlace,
    changed: (client: ClickHouseClient) => Promise<void> = async () => undefined,
  ): Promise<Connection> {
    const { createClient, ClickHouseLogLevel } = await import('@clickhouse/client');
    const tls = await tlsOptions(options.tls);
    const clients = options.urls.map((url) =>
      createClient({
        ...clientOptions(options),
        ...tls,
        url,
        ...(database !== null && { database }),
        // It would print statements with what users sent.
        log: { level: ClickHouseLogLevel.OFF },
      }),
    );
    return new Connection(new Servers(clients, now, changed));
  }

  /** All rows of an answer, which memory has to hold. @param sql without FORMAT */
  async rows(sql: string, abort?: AbortSignal): Promise<readonly Row[]> {
    return await this.#trying({ abort }, async (client) => {
      const answer = await this.#ask(client, sql, abort);
      const leave = onAbort(abort, () => {
        answer.close();
      });
      return await answer.json<Row>().finally(leave);
    });
  }

  /** The rows of an answer as they come, a few at a time. Who stops taking them ends the statement. */
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
   * Adds rows to a table, all or none of each partition. It is tried again where the answer does not come.
   *
   * @param rows as {@link rowBinary} takes them
   * @param token names the insert among all of this table, so that trying again adds nothing twice. Null where rows replace those of the
   * same key: a server without replicas notes a token before the rows are there, and one that is killed between the two takes the next
   * attempt for a repeat and drops it (`../tables/grouped-inserts.ts`).
   * @returns whether it was tried more than once
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
      // There is nothing in it, but the connection is free only after its end.
      await finished(stream.resume());
      return attempt > 0;
    });
  }

  /** Runs a statement that answers nothing. It may be run twice. Nothing of users may be in it. */
  async command(sql: string, settings: ClickHouseSettings = {}): Promise<void> {
    await this.#trying({ isOurs: true }, (client) => client.command({ query: sql, ...asked({ settings }) }));
  }

  /** Likewise, of one that must not be run twice. Where no answer comes it is not known whether it was done. */
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
      // The client only hears of an end that comes after it has begun.
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

/** What a connection needs beside the options. */
export interface ConnectionPlace {
  /** Null for statements that need none, such as the one that makes it. */
  readonly database: string | null;
  /** Milliseconds. */
  readonly now: () => number;
}

/** How a table is called in a statement about a table of a database that need not be the connection's. */
export function placeOf(database: string, table: string): string {
  return `${named(database)}.${named(table)}`;
}

/** @throws ConsumeError `internal_error` for a row that the columns do not take */
function bodyOf(columns: readonly TypedColumn[], rows: readonly BinaryRow[]): readonly Buffer[] {
  try {
    return rowBinary(columns, rows);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw toConsumeError(new ClickHouseFailure(message, 'mistaken'));
  }
}

/** The client hears of an end only until the answer begins. @returns a function that ends the watch */
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
