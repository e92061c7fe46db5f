import { Session } from 'chdb';
import type { ClickHouseRequest } from './clickhouse-requests.js';

/** A chDB connection runs one statement at a time, so this is the concurrency. */
const CONNECTIONS = 12;

interface Connection {
  readonly session: Session;
  database: string;
  settings: ReadonlyMap<string, string>;
}

/** Connections to one directory, each lent to one request at a time. */
export class ClickHouseConnections {
  readonly #free: Connection[];
  readonly #waiting: ((connection: Connection) => void)[] = [];
  readonly #forEnds: Session;
  #ends: Promise<unknown> = Promise.resolve();

  constructor(directory: string) {
    // Constant settings of this small server.
    const connectionArgs = ['--max_threads=2', '--async_load_databases=0'];
    const open = (): Session => new Session(directory, { connectionArgs });
    this.#free = Array.from({ length: CONNECTIONS }, () => ({
      session: open(),
      database: 'default',
      settings: new Map<string, string>(),
    }));
    this.#forEnds = open();
  }

  /** Cancels a running statement by its beginning, which needs another connection. */
  end(beginning: string): void {
    const kill = `KILL QUERY WHERE startsWith(query, ${quoted(beginning)}) ASYNC`;
    this.#ends = this.#ends.then(() => this.#forEnds.queryAsync(kill)).catch(() => undefined);
  }

  /** Lends a connection with the database, settings and parameters of the request. */
  async use<Result>(
    request: ClickHouseRequest,
    work: (session: Session) => Promise<Result>,
  ): Promise<Result> {
    const connection = this.#free.pop() ?? (await new Promise<Connection>((got) => this.#waiting.push(got)));
    try {
      await prepare(connection, request);
      return await work(connection.session);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free.push(connection);
      else next(connection);
    }
  }
}

async function prepare(connection: Connection, request: ClickHouseRequest): Promise<void> {
  const { session } = connection;
  if (connection.database !== request.database) {
    await session.queryAsync(`USE \`${request.database}\``);
    connection.database = request.database;
  }
  const changes = [
    ...[...connection.settings.keys()]
      .filter((name) => !request.settings.has(name))
      .map((name) => `${name} = DEFAULT`),
    ...[...request.settings]
      .filter(([name, value]) => connection.settings.get(name) !== value)
      .map(([name, value]) => `${name} = ${quoted(value)}`),
    ...[...request.params].map(([name, value]) => `param_${name} = ${quoted(value)}`),
  ];
  if (changes.length > 0) await session.queryAsync(`SET ${changes.join(', ')}`);
  connection.settings = request.settings;
}

function quoted(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
