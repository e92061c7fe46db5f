import type { Column } from '../worker/columns.js';

/**
 * Every column of the telemetry tables, once: DDL, encoding, appending and selecting all go by these lists.
 *
 * A table's columns are those that the store fills when it settles a commit, then those that the sender's thread
 * encodes. Placement and life of the tables: `duckdb/README.md`.
 */

/** Filled in the commit, on every table: the number of the group commit and the small number of the tenant. */
const COMMIT: readonly Column[] = [
  { name: 'seq', kind: 'int64', sql: 'BIGINT' },
  { name: 'tenant', kind: 'int32', sql: 'INTEGER' },
];

/** What is encoded of a span. `payload` goes to a table of its own. */
export const SPAN_WIRE = [
  { name: 'trace_id', kind: 'uuid', sql: 'UUID' },
  { name: 'span_id', kind: 'uuid', sql: 'UUID' },
  { name: 'parent_span_id', kind: 'uuid', sql: 'UUID', nullable: true },
  { name: 'type', kind: 'uint8', sql: 'UTINYINT' },
  { name: 'status', kind: 'uint8', sql: 'UTINYINT' },
  { name: 'name', kind: 'text', sql: 'VARCHAR' },
  { name: 'started_at', kind: 'int64', sql: 'TIMESTAMP' },
  { name: 'ended_at', kind: 'int64', sql: 'TIMESTAMP', nullable: true },
  { name: 'duration_ms', kind: 'float64', sql: 'DOUBLE', nullable: true },
  { name: 'model', kind: 'text', sql: 'VARCHAR', nullable: true },
  { name: 'input_tokens', kind: 'int64', sql: 'BIGINT', nullable: true },
  { name: 'output_tokens', kind: 'int64', sql: 'BIGINT', nullable: true },
  { name: 'total_tokens', kind: 'int64', sql: 'BIGINT', nullable: true },
  { name: 'cost_usd', kind: 'int64', sql: 'DECIMAL(18,6)', nullable: true },
  { name: 'error_message', kind: 'text', sql: 'VARCHAR', nullable: true },
  { name: 'derived', kind: 'uint8', sql: 'UTINYINT' },
] as const satisfies readonly Column[];

/** What is encoded of a header. `agent` becomes `agent_no` in the commit. */
export const TRACE_WIRE = [
  { name: 'trace_id', kind: 'uuid', sql: 'UUID' },
  { name: 'status', kind: 'uint8', sql: 'UTINYINT' },
  { name: 'started_at', kind: 'int64', sql: 'TIMESTAMP' },
  { name: 'ended_at', kind: 'int64', sql: 'TIMESTAMP', nullable: true },
  { name: 'duration_ms', kind: 'float64', sql: 'DOUBLE', nullable: true },
  { name: 'success', kind: 'bool', sql: 'BOOLEAN', nullable: true },
  { name: 'outcome', kind: 'text', sql: 'VARCHAR', nullable: true },
  { name: 'error_message', kind: 'text', sql: 'VARCHAR', nullable: true },
  { name: 'total_tokens', kind: 'int64', sql: 'BIGINT', nullable: true },
  { name: 'total_cost_usd', kind: 'int64', sql: 'DECIMAL(18,6)', nullable: true },
  { name: 'metadata', kind: 'text', sql: 'VARCHAR', nullable: true },
  { name: 'sdk_version', kind: 'text', sql: 'VARCHAR', nullable: true },
  { name: 'derived', kind: 'uint8', sql: 'UTINYINT' },
] as const satisfies readonly Column[];

const SPAN_STORE: readonly Column[] = [
  ...COMMIT,
  /** Which line of the trace's payload row of this commit is the span's. */
  { name: 'line', kind: 'uint32', sql: 'UINTEGER' },
  /** Whether an older version of the span lies in an earlier commit. */
  { name: 'replaces', kind: 'bool', sql: 'BOOLEAN' },
];

const TRACE_STORE: readonly Column[] = [
  ...COMMIT,
  { name: 'agent_no', kind: 'int32', sql: 'INTEGER' },
  { name: 'span_count', kind: 'uint32', sql: 'UINTEGER' },
  /** The first and the last commit that brought rows of the trace's spans; 0 and 0 when there are none. */
  { name: 'first_seq', kind: 'int64', sql: 'BIGINT' },
  { name: 'last_seq', kind: 'int64', sql: 'BIGINT' },
  /** Whether an older version of the header lies in an earlier commit. */
  { name: 'replaces', kind: 'bool', sql: 'BOOLEAN' },
];

export interface Table {
  readonly name: string;
  /** Filled in the commit; they come first. */
  readonly store: readonly Column[];
  /** Taken from the encoded rows. */
  readonly wire: readonly Column[];
  /** Of a table whose newer rows replace older ones: the column that tells whose versions they are. */
  readonly versionOf?: string;
}

export const SPANS: Table = { name: 'spans', store: SPAN_STORE, wire: SPAN_WIRE, versionOf: 'span_id' };
export const TRACES: Table = { name: 'traces', store: TRACE_STORE, wire: TRACE_WIRE, versionOf: 'trace_id' };

/**
 * One row for each trace and commit: a line for each of its new spans, `input_data`, `output_data` and `metadata` as
 * JSON texts with a tab between them (JSON text has no raw tab and no raw line end), nothing for null. One row for ten
 * spans instead of three texts a span: 30 % less work for the store thread and a third of the bytes on disk.
 */
export const PAYLOADS: Table = {
  name: 'payloads',
  store: COMMIT,
  wire: [
    { name: 'trace_id', kind: 'uuid', sql: 'UUID' },
    { name: 'lines', kind: 'text', sql: 'VARCHAR', compression: 'zstd' },
  ],
};

export const AGENTS: Table = {
  name: 'agents',
  store: COMMIT,
  wire: [
    { name: 'agent_no', kind: 'int32', sql: 'INTEGER' },
    { name: 'id', kind: 'uuid', sql: 'UUID' },
    { name: 'name', kind: 'text', sql: 'VARCHAR' },
    { name: 'created_at', kind: 'int64', sql: 'TIMESTAMP' },
  ],
};

/** The tables that every segment and the cold file have. */
export const SEGMENT_TABLES: readonly Table[] = [SPANS, PAYLOADS, TRACES, AGENTS];

/** Bits of `derived`: values that the sender did not declare, so that they follow what comes later. */
export const DERIVED = { duration_ms: 1, total_tokens: 2, total_cost_usd: 4 } as const;

export function columnsOf(table: Table): readonly Column[] {
  return [...table.store, ...table.wire];
}

/** The statement that makes a table in a database (`catalog`). */
export function createTable(catalog: string, table: Table): string {
  const columns = columnsOf(table).map(
    ({ name, sql, nullable, compression }) =>
      `${name} ${sql}${nullable ? '' : ' NOT NULL'}${compression === undefined ? '' : ` USING COMPRESSION ${compression}`}`,
  );
  return `CREATE TABLE ${catalog}.main.${table.name} (${columns.join(', ')})`;
}

/** The select list of columns, each as something that JavaScript has: texts, numbers (times in microseconds, money in millionths) and booleans. */
export function selectList(columns: readonly Column[]): string {
  return columns.map((column) => `${readable(column)} AS ${column.name}`).join(', ');
}

function readable({ name, sql }: Column): string {
  if (sql === 'UUID') return `${name}::VARCHAR`;
  if (sql === 'TIMESTAMP') return `epoch_us(${name})`;
  // Through a double, which is exact here: of 15 digits the rounding takes away what the last bit left open.
  return sql.startsWith('DECIMAL') ? `round(${name}::DOUBLE * 1e6)` : name;
}

/** A column's position in a list, found once when a module is loaded. */
export function indexOf(columns: readonly Column[], name: string): number {
  const index = columns.findIndex((column) => column.name === name);
  if (index < 0) throw new RangeError(`no column ${name}`);
  return index;
}
