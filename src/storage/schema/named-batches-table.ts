import { COMMIT, defineTable } from './table.js';

/**
 * Batches named by their senders, written in the commit of their rows: a repeat adds nothing and gets the same response. Kept for a day.
 */
export const NAMED_BATCHES = defineTable({
  name: 'named_batches',
  store: COMMIT,
  wire: [
    /** The result of `nameOfBatch` for the signal and the name. */
    { name: 'batch', kind: 'uuid', sql: 'UUID' },
    /** When it was received. */
    { name: 'received_at', kind: 'int64', sql: 'TIMESTAMP' },
    /** Positions of the rejected items, separated by commas; null for none. */
    { name: 'refused', kind: 'text', sql: 'VARCHAR', nullable: true },
  ],
});
