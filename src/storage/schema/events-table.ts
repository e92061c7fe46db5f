import { COMMIT, defineTable } from './table.js';

/** Events from telemetry, written in the same commit as their rows, in the order `(seq, place)`. */
export const EVENTS = defineTable({
  name: 'events',
  store: [
    ...COMMIT,
    /** Its index among the events of the commit, from 0. */
    { name: 'place', kind: 'int32', sql: 'INTEGER' },
  ],
  wire: [
    { name: 'id', kind: 'uuid', sql: 'UUID' },
    { name: 'type', kind: 'text', sql: 'VARCHAR' },
    { name: 'timestamp', kind: 'int64', sql: 'TIMESTAMP' },
    { name: 'body', kind: 'text', sql: 'VARCHAR', compression: 'zstd' },
    /** The length of the body, used to limit the memory of reads. */
    { name: 'bytes', kind: 'uint32', sql: 'UINTEGER' },
  ],
});
