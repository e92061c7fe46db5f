import { COMMIT, defineTable } from './table.js';

/** Events that are facts of telemetry, written in the commit of the rows that make them true, in the order `(seq, place)`. */
export const EVENTS = defineTable({
  name: 'events',
  store: [
    ...COMMIT,
    /** Its place among the events of the commit, from 0. */
    { name: 'place', kind: 'int32', sql: 'INTEGER' },
  ],
  wire: [
    { name: 'id', kind: 'uuid', sql: 'UUID' },
    { name: 'type', kind: 'text', sql: 'VARCHAR' },
    { name: 'timestamp', kind: 'int64', sql: 'TIMESTAMP' },
    { name: 'body', kind: 'text', sql: 'VARCHAR', compression: 'zstd' },
    /** The length of the body, by which reads bound what they hold. */
    { name: 'bytes', kind: 'uint32', sql: 'UINTEGER' },
  ],
});
