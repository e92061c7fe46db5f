import type { Convention } from '../conventions/convention.js';

/** OpenTelemetry's conventions of databases, with their names before v1.28. */
export const DATABASE: Convention = {
  fields: {
    is_db: { 'db.system.name': { rank: 1 }, 'db.system': { rank: 1 } },
    db_system: { 'db.system.name': { rank: 1 }, 'db.system': { rank: 2 } },
    db_namespace: { 'db.namespace': { rank: 1 }, 'db.name': { rank: 2 } },
    db_operation: { 'db.operation.name': { rank: 1 }, 'db.operation': { rank: 2 } },
    db_query: { 'db.query.text': { rank: 1 }, 'db.statement': { rank: 2 } },
    db_rows: { 'db.response.returned_rows': { rank: 1 } },
  },
};
