import type { Column } from '../../worker/columns.js';
import { LOG_WIRE } from '../schema/log-tables.js';
import { SCORE_WIRE } from '../schema/scores-table.js';
import { HEADER_COLUMNS, POINT_WIRE, SPAN_WIRE } from '../schema/tables.js';

/** The telemetry tables of an export with their columns, the same for every engine. */

const TENANT = { name: 'tenant', kind: 'int32', sql: 'INTEGER' } as const;
/** The order of arrival; rows that arrived together have the same value. */
const SEQ = { name: 'seq', kind: 'int64', sql: 'BIGINT' } as const;
const ORIGIN = { name: 'origin', kind: 'text', sql: 'VARCHAR' } as const;

/** Names and ids of agents: `Agent` of the store. */
const AGENTS_EXPORT = [
  TENANT,
  { name: 'agent_no', kind: 'int32', sql: 'INTEGER' },
  { name: 'id', kind: 'uuid', sql: 'UUID' },
  { name: 'name', kind: 'text', sql: 'VARCHAR' },
  /** A position in `RUN_KINDS`. */
  { name: 'kind', kind: 'uint8', sql: 'UTINYINT' },
  { name: 'created_at', kind: 'int64', sql: 'TIMESTAMP', nullable: true },
] as const satisfies readonly Column[];

/** Items counted for quotas, by time of arrival. */
const USAGE_EXPORT = [
  TENANT,
  /** The UTC month as `year * 12 + month`, with January as month 0; negative values are UTC days: the negated days since 1970. */
  { name: 'period', kind: 'int32', sql: 'INTEGER' },
  { name: 'items', kind: 'int64', sql: 'BIGINT' },
] as const satisfies readonly Column[];

/** Named batches, kept so that repeats of them add nothing. */
const BATCHES_EXPORT = [
  TENANT,
  { name: 'batch', kind: 'uuid', sql: 'UUID' },
  { name: 'received_at', kind: 'int64', sql: 'TIMESTAMP' },
  { name: 'refused', kind: 'text', sql: 'VARCHAR', nullable: true },
] as const satisfies readonly Column[];

/** The prompt versions used by runs. */
const LINKS_EXPORT = [
  TENANT,
  SEQ,
  /** `number` of the control data's `prompts`. */
  { name: 'prompt_no', kind: 'int32', sql: 'INTEGER' },
  { name: 'trace_id', kind: 'uuid', sql: 'UUID' },
  { name: 'span_id', kind: 'uuid', sql: 'UUID', nullable: true },
  { name: 'linked_at', kind: 'int64', sql: 'TIMESTAMP' },
] as const satisfies readonly Column[];

/** Runs: their declared fields and their current state. */
const RUNS_EXPORT = [
  TENANT,
  ...HEADER_COLUMNS,
  { name: 'agent', kind: 'text', sql: 'VARCHAR' },
  { name: 'span_count', kind: 'uint32', sql: 'UINTEGER' },
  /** The first and the last `seq` of its spans; 0 and 0 without spans. */
  { name: 'first_seq', kind: 'int64', sql: 'BIGINT' },
  { name: 'last_seq', kind: 'int64', sql: 'BIGINT' },
  /** When the run was last updated. */
  { name: 'heard_at', kind: 'int64', sql: 'TIMESTAMP' },
  /** Whether it counts in the service map. */
  { name: 'is_mapped', kind: 'bool', sql: 'BOOLEAN' },
] as const satisfies readonly Column[];

/** Spans in their current version. */
const SPANS_EXPORT = [
  SEQ,
  TENANT,
  ...SPAN_WIRE,
  /** Its node in the service map: empty for none, `@` for that of the run's agent, or `=` and a name. */
  { name: 'node', kind: 'text', sql: 'VARCHAR' },
  { name: 'input', kind: 'text', sql: 'VARCHAR', nullable: true },
  { name: 'output', kind: 'text', sql: 'VARCHAR', nullable: true },
  /** In addition to `sent`: only what cannot be derived from it. */
  { name: 'metadata', kind: 'text', sql: 'VARCHAR', nullable: true },
  /** An OTLP `Span` in protobuf, and its parents: a `ResourceSpans` with a `ScopeSpans`. */
  { name: 'sent', kind: 'text', sql: 'BLOB', nullable: true },
  { name: 'origin', kind: 'text', sql: 'BLOB', nullable: true },
] as const satisfies readonly Column[];

/** Metric points, each with the current data of its metric. */
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

const LOGS_EXPORT: readonly Column[] = [
  SEQ,
  TENANT,
  // `normal` is exported for older versions. Imports compute both again.
  ...LOG_WIRE.filter(({ name }) => name !== 'other_text'),
  ORIGIN,
];

/** Scores of runs, spans and responses. */
const SCORES_EXPORT = [SEQ, TENANT, ...SCORE_WIRE] as const satisfies readonly Column[];

/**
 * All tables of an export with their columns, in import order. `isPaged`: the table may be large and is split into files that each fit
 * in memory.
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
  scores: { columns: SCORES_EXPORT, isPaged: true },
} as const;

export type TableName = keyof typeof EXPORTED;
export const TABLE_NAMES = Object.keys(EXPORTED) as readonly TableName[];

/** The file name of a table. @param page from 1, for a paged table */
export function fileOf(table: TableName, page?: number): string {
  return page === undefined ? `${table}.parquet` : `${table}-${String(page).padStart(6, '0')}.parquet`;
}

/** The table of a file; null if no table has this file name. */
export function tableOf(file: string): TableName | null {
  const [, name, page] = /^([a-z]+)(?:-(\d{6,}))?\.parquet$/.exec(file) ?? [];
  const table = TABLE_NAMES.find((known) => known === name);
  if (table === undefined || EXPORTED[table].isPaged !== (page !== undefined)) return null;
  return table;
}
