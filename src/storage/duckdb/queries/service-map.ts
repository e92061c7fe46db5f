import { SPAN_TYPES, type SpanType } from '../../../signal/span.js';
import { MAP_EDGES, MAP_NODES, SERVICES } from '../../sum-tables.js';
import type { Connection } from '../database.js';
import { relation } from '../relation.js';
import type { Capture } from '../segment.js';

/** The service map as the text of JSON arrays' insides (`{…},{…}`), nodes and edges as the API shows them. */
export interface MapAnswer {
  readonly nodes: Uint8Array<ArrayBuffer>;
  readonly edges: Uint8Array<ArrayBuffer>;
}

/** interface.md, "Service map" */
const NODE_TYPES: Readonly<Partial<Record<SpanType, string>>> = {
  agent: 'agent',
  http: 'service',
  db: 'database',
  custom: 'external',
};

/**
 * A tenant's service map: nodes by id, edges by source and target. DuckDB writes the JSON, on its own thread: a map of
 * 50 000 nodes would hold up all commits for a third of a second here.
 *
 * @param firstHour of the traces' starts, in hours since 1970; null for all time
 */
export async function readServiceMap(
  connection: Connection,
  capture: Capture,
  tenant: number,
  firstHour: number | null,
): Promise<MapAnswer> {
  const where = `tenant = ${tenant}${firstHour === null ? '' : ` AND hour >= ${firstHour}`}`;
  const names = `SELECT node_no, name FROM ${relation(capture, SERVICES, `tenant = ${tenant}`)}`;
  // Of a node that several types of spans make, the first of agent, service, database, external: the order of the codes.
  const byType = `SELECT node_no, type, sum(spans) AS spans FROM ${relation(capture, MAP_NODES, where)} GROUP BY node_no, type HAVING sum(spans) > 0 OR sum(traces) > 0`;
  const nodes = `SELECT node_no, min(type) AS type, sum(spans)::BIGINT AS spans FROM (${byType}) GROUP BY node_no`;
  const edges = `SELECT source_no, target_no, sum(spans)::BIGINT AS spans FROM ${relation(capture, MAP_EDGES, where)} GROUP BY source_no, target_no HAVING sum(spans) > 0`;
  return {
    nodes: await listOf(
      connection,
      `WITH names AS MATERIALIZED (${names})
       SELECT string_agg(json_object('id', v.name, 'name', v.name, 'node_type', ${NODE_TYPE}, 'span_type', ${SPAN_TYPE}, 'span_count', n.spans)::VARCHAR, ',' ORDER BY v.name) AS list
       FROM (${nodes}) n JOIN names v USING (node_no)`,
    ),
    edges: await listOf(
      connection,
      `WITH names AS MATERIALIZED (${names})
       SELECT string_agg(json_object('source', s.name, 'target', t.name, 'weight', e.spans)::VARCHAR, ',' ORDER BY s.name, t.name) AS list
       FROM (${edges}) e JOIN names s ON s.node_no = e.source_no JOIN names t ON t.node_no = e.target_no`,
    ),
  };
}

const SPAN_TYPE = byCode((type) => type);
const NODE_TYPE = byCode((type) => NODE_TYPES[type] ?? type);

/** What stands for the code of a span's type, in SQL. */
function byCode(textOf: (type: SpanType) => string): string {
  const cases = SPAN_TYPES.map((type, code) => `WHEN ${code} THEN '${textOf(type)}'`);
  return `CASE n.type ${cases.join(' ')} END`;
}

async function listOf(connection: Connection, sql: string): Promise<Uint8Array<ArrayBuffer>> {
  const [row] = await connection.rows(sql);
  return new TextEncoder().encode(typeof row?.list === 'string' ? row.list : '');
}
