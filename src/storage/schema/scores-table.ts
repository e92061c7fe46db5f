import type { Column } from '../../worker/columns.js';
import { COMMIT, defineTable } from './table.js';

/** The encoded columns of a score. */
export const SCORE_WIRE = [
  { name: 'id', kind: 'uuid', sql: 'UUID' },
  { name: 'trace_id', kind: 'uuid', sql: 'UUID', nullable: true },
  { name: 'span_id', kind: 'uuid', sql: 'UUID', nullable: true },
  { name: 'response_id', kind: 'text', sql: 'VARCHAR', nullable: true },
  /** As in the `call_key` of spans: `responseKey`. */
  { name: 'response_key', kind: 'text', sql: 'VARCHAR', nullable: true },
  { name: 'name', kind: 'text', sql: 'VARCHAR' },
  { name: 'value', kind: 'float64', sql: 'DOUBLE', nullable: true },
  { name: 'label', kind: 'text', sql: 'VARCHAR', nullable: true },
  { name: 'comment', kind: 'text', sql: 'VARCHAR', nullable: true },
  { name: 'error_type', kind: 'text', sql: 'VARCHAR', nullable: true },
  /** A position in `SCORE_SOURCES`. */
  { name: 'source', kind: 'uint8', sql: 'UTINYINT' },
  { name: 'scored_at', kind: 'int64', sql: 'TIMESTAMP' },
  { name: 'session_id', kind: 'text', sql: 'VARCHAR', nullable: true },
  /** JSON. */
  { name: 'metadata', kind: 'text', sql: 'VARCHAR', nullable: true },
] as const satisfies readonly Column[];

/** Order of rows with the same id. Rows of concurrent requests may have the same commit. */
export const NEWEST_FORM_FIRST = 'seq DESC, scored_at DESC, value DESC NULLS LAST, label DESC NULLS LAST';

/**
 * Scores of runs, spans and responses. What they judge may arrive later, or never. Of rows with the same id the newest counts: reads
 * leave out the others, so that a write needs no look-up.
 */
export const SCORES = defineTable({ name: 'scores', store: COMMIT, wire: SCORE_WIRE });
