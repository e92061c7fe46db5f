import type { Column } from '../../worker/columns.js';
import { COMMIT, defineTable } from './table.js';

/** Log records, and the tables of the cold file for searching them: `duckdb/index/README.md`. */

/** The encoded columns of a log record. */
export const LOG_WIRE = [
  { name: 'id', kind: 'uuid', sql: 'UUID' },
  { name: 'timestamp', kind: 'int64', sql: 'TIMESTAMP' },
  { name: 'observed_at', kind: 'int64', sql: 'TIMESTAMP', nullable: true },
  { name: 'severity', kind: 'uint8', sql: 'UTINYINT' },
  { name: 'severity_number', kind: 'int32', sql: 'INTEGER' },
  { name: 'severity_text', kind: 'text', sql: 'VARCHAR' },
  { name: 'service_name', kind: 'text', sql: 'VARCHAR' },
  // Uncompressed: random ids do not shrink, and decompressing 8192 of them to show one takes 4 ms.
  { name: 'trace_id', kind: 'uuid', sql: 'UUID', nullable: true, compression: 'uncompressed' },
  { name: 'span_id', kind: 'uuid', sql: 'UUID', nullable: true, compression: 'uncompressed' },
  { name: 'flags', kind: 'uint32', sql: 'UINTEGER' },
  /** From the field, else from the attribute `event.name`; in older records the attribute was read for GenAI events only. */
  { name: 'event_name', kind: 'text', sql: 'VARCHAR', nullable: true },
  /** The text, or the JSON text of any other body; null if nothing was sent. */
  { name: 'body', kind: 'text', sql: 'VARCHAR', nullable: true },
  /** As in `SearchedTexts`; in older records, the tokens of a body with non-ASCII characters. */
  { name: 'normal', kind: 'text', sql: 'VARCHAR', nullable: true },
  /** As a JSON object; null for none. */
  { name: 'attributes', kind: 'text', sql: 'VARCHAR', nullable: true },
  /** The length of body and attributes together, used to limit the memory of reads. */
  { name: 'bytes', kind: 'uint32', sql: 'UINTEGER' },
  /** `other` of `SearchedTexts`: event name and values of attributes, for full-text search; null in older records. */
  { name: 'other_text', kind: 'text', sql: 'VARCHAR', nullable: true },
] as const satisfies readonly Column[];

/** Derived columns of {@link LOG_WIRE}; an import computes them again. */
export const DERIVED_LOG_COLUMNS: ReadonlySet<string> = new Set(['normal', 'other_text']);

export const LOGS = defineTable({
  name: 'logs',
  store: [
    ...COMMIT,
    /** In the cold file `block * 65536 + position`: see `duckdb/index/README.md`. Elsewhere 0. */
    { name: 'log_no', kind: 'int64', sql: 'BIGINT' },
    { name: 'origin_no', kind: 'int32', sql: 'INTEGER' },
  ],
  wire: LOG_WIRE,
});

/** Blocks of log records of the cold file that are searched together: one row per user with records in the block. */
export const LOG_BLOCKS = defineTable({
  name: 'log_blocks',
  /** The last commit of the segment that the records came from, of the newest segment if there were several. */
  store: [{ name: 'seq', kind: 'int64', sql: 'BIGINT' }],
  wire: [
    { name: 'block', kind: 'int32', sql: 'INTEGER' },
    { name: 'tenant', kind: 'int32', sql: 'INTEGER' },
    { name: 'first_position', kind: 'uint32', sql: 'UINTEGER' },
    { name: 'records', kind: 'uint32', sql: 'UINTEGER' },
    /** The length of bodies and attributes. */
    { name: 'bytes', kind: 'int64', sql: 'BIGINT' },
    { name: 'oldest', kind: 'int64', sql: 'TIMESTAMP' },
    { name: 'newest', kind: 'int64', sql: 'TIMESTAMP' },
  ],
});

/**
 * The records of a block that contain a term, by the term's hash and sorted by it within the block. Created in SQL, because column kinds
 * do not include lists.
 */
export function createLogTerms(catalog: string): string {
  return `CREATE TABLE ${catalog}.main.log_terms (seq BIGINT NOT NULL, block INTEGER NOT NULL, hash UBIGINT NOT NULL, records UINTEGER NOT NULL, positions USMALLINT[] NOT NULL)`;
}
