/** How a store in ClickHouse is reached, and what it may use: `extensions/clickhouse/README.md`. */
export interface ClickHouseOptions {
  /** HTTP interfaces of servers that hold the same data, in the order in which they are used. */
  readonly urls: readonly string[];
  readonly database: string;
  readonly username: string;
  /** Never shown. */
  readonly password: string;
  readonly tls: ClickHouseTls;
  /** Of statements that make or change tables; null: they are made on the server that is asked. */
  readonly cluster: string | null;
  /** Whether tables are replicated by a Keeper. */
  readonly isReplicated: boolean;
  /** Whether this process brings the tables to what it needs. */
  readonly migrates: boolean;
  /** Connections to each server. */
  readonly connections: number;
  /** How long one request may take, in milliseconds. */
  readonly timeoutMs: number;
  /** Rows of one insert, at most about so many. */
  readonly groupRows: number;
  /** Bytes of the rows that wait for their insert; more is refused as overloaded. */
  readonly maxQueueBytes: number;
  /** How many whole UTC days are kept; null: for ever. */
  readonly retention: Readonly<Record<'traces' | 'metrics' | 'logs', number | null>>;
}

/** Files in PEM form, for https URLs. */
export interface ClickHouseTls {
  /** What is trusted in place of the public authorities; a client certificate needs it. */
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
}
