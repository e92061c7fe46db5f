import { COMMIT, defineTable } from './table.js';

/**
 * The kinds of spans that each agent's runs in the cold file have or had: one row per combination of type, name, model and service-map
 * node. A row with a null `type` stands for all kinds, if an agent has too many to list.
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
