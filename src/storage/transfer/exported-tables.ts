import type { Column } from '../../worker/columns.js';
import { LOG_WIRE } from '../schema/log-tables.js';
import { HEADER_COLUMNS, POINT_WIRE, SPAN_WIRE } from '../schema/tables.js';

/** What an export holds of telemetry: the columns of each table, the same for every engine. */

const TENANT = { name: 'tenant', kind: 'int32', sql: 'INTEGER' } as const;
/** In which order rows came; what came together has the same. */
const SEQ = { name: 'seq', kind: 'int64', sql: 'BIGINT' } as const;
const ORIGIN = { name: 'origin', kind: 'text', sql: 'VARCHAR' } as const;

/** The names of agents, with their ids: `Agent` of the store. */
const AGENTS_EXPORT = [
  TENANT,
  { name: 'agent_no', kind: 'int32', sql: 'INTEGER' },
  { name: 'id', kind: 'uuid', sql: 'UUID' },
  { name: 'name', kind: 'text', sql: 'VARCHAR' },
  /** A position in `RUN_KINDS`. */
  { name: 'kind', kind: 'uint8', sql: 'UTINYINT' },
  { name: 'created_at', kind: 'int64', sql: 'TIMESTAMP', nullable: true },
] as const satisfies readonly Column[];

/** Items that counted for quotas, by when they came. */
const USAGE_EXPORT = [
  TENANT,
  /** The UTC month as `year * 12 + month`, the month from 0; or below 0 the UTC day, the days since 1970, negated. */
  { name: 'period', kind: 'int32', sql: 'INTEGER' },
  { name: 'items', kind: 'int64', sql: 'BIGINT' },
] as const satisfies readonly Column[];

/** Batches that their senders gave names, so that repeats of them add nothing. */
const BATCHES_EXPORT = [
  TENANT,
  { name: 'batch', kind: 'uuid', sql: 'UUID' },
  { name: 'received_at', kind: 'int64', sql: 'TIMESTAMP' },
  { name: 'refused', kind: 'text', sql: 'VARCHAR', nullable: true },
] as const satisfies readonly Column[];

/** Which runs used which prompt versions. */
const LINKS_EXPORT = [
  TENANT,
  SEQ,
  /** `number` of the control data's `prompts`. */
  { name: 'prompt_no', kind: 'int32', sql: 'INTEGER' },
  { name: 'trace_id', kind: 'uuid', sql: 'UUID' },
  { name: 'span_id', kind: 'uuid', sql: 'UUID', nullable: true },
  { name: 'linked_at', kind: 'int64', sql: 'TIMESTAMP' },
] as const satisfies readonly Column[];

/** Runs: what is declared of them, and how they stand. */
const RUNS_EXPORT = [
  TENANT,
  ...HEADER_COLUMNS,
  { name: 'agent', kind: 'text', sql: 'VARCHAR' },
  { name: 'span_count', kind: 'uint32', sql: 'UINTEGER' },
  /** The first and the last `seq` of its spans; 0 and 0 where there is none. */
  { name: 'first_seq', kind: 'int64', sql: 'BIGINT' },
  { name: 'last_seq', kind: 'int64', sql: 'BIGINT' },
  /** When news of it last came. */
  { name: 'heard_at', kind: 'int64', sql: 'TIMESTAMP' },
  /** Whether it counts in the service map. */
  { name: 'is_mapped', kind: 'bool', sql: 'BOOLEAN' },
] as const satisfies readonly Column[];

/** Spans, each once, as they are now. */
const SPANS_EXPORT = [
  SEQ,
  TENANT,
  ...SPAN_WIRE,
  /** Its node in the service map: empty for none, `@` for that of the run's agent, or `=` and a name. */
  { name: 'node', kind: 'text', sql: 'VARCHAR' },
  { name: 'input', kind: 'text', sql: 'VARCHAR', nullable: true },
  { name: 'output', kind: 'text', sql: 'VARCHAR', nullable: true },
  /** Beside `sent` only what does not follow from that. */
  { name: 'metadata', kind: 'text', sql: 'VARCHAR', nullable: true },
  /** A `Span` of OTLP in protobuf, and what it came under: a `ResourceSpans` with a `ScopeSpans`. */
  { name: 'sent', kind: 'text', sql: 'BLOB', nullable: true },
  { name: 'origin', kind: 'text', sql: 'BLOB', nullable: true },
] as const satisfies readonly Column[];

/** Metric points, each with what is known now of its metric. */
const POINTS_EXPORT = [
  SEQ,
  TENANT,
  ...POINT_WIRE,
  { name: 'metric', kind: 'text', sql: 'VARCHAR' },
  { name: 'metric_type', kind: 'uint8', sql: 'UTINYINT' },
  { name: 'unit', kind: 'text', sql: 'VARCHAR' },
  { name: 'description', kind: 'text', sql: 'VARCHAR' },
  ORIGIN,
] as const satisfies readonly Column[];

const LOGS_EXPORT = [SEQ, TENANT, ...LOG_WIRE, ORIGIN] as const satisfies readonly Column[];

/**
 * Every table of an export with its columns, in the order in which they are brought in. `isPaged`: it may be large, so it lies in several
 * files, each of which fits into memory.
 */
export const EXPORTED = {
  agents: { columns: AGENTS_EXPORT, isPaged: false },
  usage: { columns: USAGE_EXPORT, isPaged: false },
  batches: { columns: BATCHES_EXPORT, isPaged: false },
  runs: { columns: RUNS_EXPORT, isPaged: false },
  spans: { columns: SPANS_EXPORT, isPaged: true },
  links: { columns: LINKS_EXPORT, isPaged: false },
  points: { columns: POINTS_EXPORT, isPaged: true },
  logs: { columns: LOGS_EXPORT, isPaged: true },
} as const;

export type TableName = keyof typeof EXPORTED;
export const TABLE_NAMES = Object.keys(EXPORTED) as readonly TableName[];

/** The name of a file of a table. @param page from 1, where the table has several */
export function fileOf(table: TableName, page?: number): string {
  return page === undefined ? `${table}.parquet` : `${table}-${String(page).padStart(6, '0')}.parquet`;
}

/** The table that a file belongs to; null where its name is not one of an export. */
export function tableOf(file: string): TableName | null {
  const [, name, page] = /^([a-z]+)(?:-(\d{6,}))?\.parquet$/.exec(file) ?? [];
  const table = TABLE_NAMES.find((known) => known === name);
  if (table === undefined || EXPORTED[table].isPaged !== (page !== undefined)) return null;
  return table;
}
