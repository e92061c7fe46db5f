import { COMMIT, defineTable } from './table.js';

/**
 * Which traces used which versions of prompts: a row for each prompt version, trace and span, or for the trace as a whole.
 * The trace may come later than its links.
 */
export const PROMPT_LINKS = defineTable({
  name: 'prompt_links',
  store: [
    ...COMMIT,
    /** The commit that brought the trace's first links. */
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
