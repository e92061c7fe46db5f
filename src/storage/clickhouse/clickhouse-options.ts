/** Connection, limits and retention of a store in ClickHouse: `extensions/clickhouse/README.md`. */
export interface ClickHouseOptions {
  /** HTTP interfaces of servers that hold the same data, in the order in which they are used. */
  readonly urls: readonly string[];
  readonly database: string;
  readonly username: string;
  /** Never logged or displayed. */
  readonly password: string;
  readonly tls: ClickHouseTls;
  /** Cluster for statements that create or alter tables; null to run them on the connected server only. */
  readonly cluster: string | null;
  /** Whether tables are replicated by a Keeper. */
  readonly isReplicated: boolean;
  /** Whether this process migrates the tables. */
  readonly migrates: boolean;
  /** Connections to each server. */
  readonly connections: number;
  /** How long one request may take, in milliseconds. */
  readonly timeoutMs: number;
  /** Approximate maximum of rows per insert. */
  readonly groupRows: number;
  /** Maximum bytes of rows queued for insert; beyond it, writes fail as overloaded. */
  readonly maxQueueBytes: number;
  /** Whole UTC days to keep; null to keep all. */
  readonly retention: Readonly<Record<'traces' | 'metrics' | 'logs', number | null>>;
}

/** Files in PEM form, for https URLs. */
export interface ClickHouseTls {
  /** CA certificates that replace the public authorities; required with a client certificate. */
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
}
