import { COMMIT, defineTable } from './table.js';

/**
 * The prompt versions used by traces: one row per prompt version, trace and span, or for the whole trace. The trace may arrive later
 * than its links.
 */
export const PROMPT_LINKS = defineTable({
  name: 'prompt_links',
  store: [
    ...COMMIT,
    /** The commit of the trace's first links. */
    { name: 'first_seq', kind: 'int64', sql: 'BIGINT' },
  ],
  wire: [
    /** `number` of the main file's `prompts`. */
    { name: 'prompt_no', kind: 'int32', sql: 'INTEGER' },
    { name: 'trace_id', kind: 'uuid', sql: 'UUID' },
    { name: 'span_id', kind: 'uuid', sql: 'UUID', nullable: true },
    { name: 'linked_at', kind: 'int64', sql: 'TIMESTAMP' },
  ],
});
