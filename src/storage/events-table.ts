import { COMMIT, type Table } from './table.js';

/**
 * Events that are facts of telemetry, written in the commit of the rows that make them true. `(seq, place)` is their order.
 * Those that are facts of the main file lie there.
 */
export const EVENTS: Table = {
  name: 'events',
  store: [
    ...COMMIT,
    /** From 0, among the events of the commit. */
    { name: 'place', kind: 'int32', sql: 'INTEGER' },
  ],
  wire: [
    { name: 'id', kind: 'uuid', sql: 'UUID' },
    { name: 'type', kind: 'text', sql: 'VARCHAR' },
    { name: 'timestamp', kind: 'int64', sql: 'TIMESTAMP' },
    { name: 'body', kind: 'text', sql: 'VARCHAR', compression: 'zstd' },
    /** Of the body: reads go by it to bound what they hold. */
    { name: 'bytes', kind: 'uint32', sql: 'UINTEGER' },
  ],
};
