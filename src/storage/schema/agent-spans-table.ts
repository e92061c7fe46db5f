import { COMMIT, defineTable } from './table.js';

/**
 * What spans the runs of each agent of the cold file have, or had: a row for each kind, which is told by its type, name, model and node of
 * the service map. A row whose `type` is null stands for all kinds, where an agent has too many to tell apart.
 */
export const AGENT_SPANS = defineTable({
  name: 'agent_spans',
  store: COMMIT,
  wire: [
    { name: 'agent_no', kind: 'int32', sql: 'INTEGER' },
    { name: 'type', kind: 'uint8', sql: 'UTINYINT', nullable: true },
    { name: 'name', kind: 'text', sql: 'VARCHAR', nullable: true },
    { name: 'model', kind: 'text', sql: 'VARCHAR', nullable: true },
    { name: 'node_no', kind: 'int32', sql: 'INTEGER', nullable: true },
  ],
});
