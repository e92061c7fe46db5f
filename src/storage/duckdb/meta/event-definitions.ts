import { MetaTable, UNPACKED } from './tables.js';

/** Events that are facts of the main file, in the order of their numbers. */
export const ENTRIES = new MetaTable('events', [
  { name: 'number', kind: 'integer', rule: 'NOT NULL' },
  { name: 'id', kind: 'uuid', rule: `NOT NULL ${UNPACKED}` },
  { name: 'type', kind: 'text', rule: 'NOT NULL' },
  { name: 'timestamp', kind: 'time', rule: 'NOT NULL' },
  /** The user whose event it is, or null for an organization's. */
  { name: 'user_id', kind: 'uuid', rule: UNPACKED },
  { name: 'organization_id', kind: 'uuid', rule: UNPACKED },
  { name: 'endpoint_id', kind: 'uuid', rule: UNPACKED },
  { name: 'body', kind: 'text', rule: 'NOT NULL' },
]);

/** How far the readers of events have come. */
export const READERS = new MetaTable('event_readers', [
  { name: 'name', kind: 'text', rule: 'PRIMARY KEY' },
  { name: 'commit', kind: 'integer', rule: 'NOT NULL' },
  { name: 'place', kind: 'integer', rule: 'NOT NULL' },
  { name: 'entry', kind: 'integer', rule: 'NOT NULL' },
]);
