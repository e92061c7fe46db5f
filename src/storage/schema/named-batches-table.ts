import { COMMIT, defineTable } from './table.js';

/**
 * Batches that their sender gave a name, in the commit of their rows: a repeat adds nothing, and is answered as they were. They are
 * kept for a day.
 */
export const NAMED_BATCHES = defineTable({
  name: 'named_batches',
  store: COMMIT,
  wire: [
    /** What `nameOfBatch` makes of the signal and the name. */
    { name: 'batch', kind: 'uuid', sql: 'UUID' },
    /** When it came. */
    { name: 'received_at', kind: 'int64', sql: 'TIMESTAMP' },
    /** Positions of the items that were refused, with commas between; null for none. */
    { name: 'refused', kind: 'text', sql: 'VARCHAR', nullable: true },
  ],
});
