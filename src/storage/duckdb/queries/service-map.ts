import { SPAN_TYPES, type SpanType } from '../../../signal/span.js';
import { MAP_EDGES, MAP_NODES } from '../../sum-tables.js';
import type { Connection } from '../database.js';
import type { Services } from '../map/services.js';
import { relation } from '../relation.js';
import type { Capture } from '../segments.js';

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
 * A tenant's service map: nodes by id, edges by source and target.
 *
 * @param firstHour of the traces' starts, in hours since 1970; null for all time
 */
export async function readServiceMap(
  connection: Connection,
  capture: Capture,
  services: Services,
  tenant: number,
  firstHour: number | null,
): Promise<MapAnswer> {
  const where = `tenant = ${tenant}${firstHour === null ? '' : ` AND hour >= ${firstHour}`}`;
  // Of a node that several types of spans make, the first of agent, service, database, external: the order of the codes.
  const byType = `SELECT node_no, type, sum(spans) AS spans FROM ${relation(capture, MAP_NODES, where)} GROUP BY node_no, type HAVING sum(spans) > 0 OR sum(traces) > 0`;
  const nodes = await connection.rows(
    `SELECT node_no, min(type) AS type, sum(spans)::BIGINT AS spans FROM (${byType}) GROUP BY node_no`,
  );
  const edges = await connection.rows(
    `SELECT source_no, target_no, sum(spans)::BIGINT AS spans FROM ${relation(capture, MAP_EDGES, where)} GROUP BY source_no, target_no HAVING sum(spans) > 0`,
  );
  const shownNodes = nodes.map(({ node_no: number, type, spans }) => {
    const id = services.name(Number(number));
    const spanType = SPAN_TYPES[Number(type)] ?? 'custom';
    return {
      id,
      name: id,
      node_type: NODE_TYPES[spanType] ?? spanType,
      span_type: spanType,
      span_count: Number(spans),
    };
  });
  const shownEdges = edges.map(({ source_no: source, target_no: target, spans }) => ({
    source: services.name(Number(source)),
    target: services.name(Number(target)),
    weight: Number(spans),
  }));
  shownNodes.sort((a, b) => compare(a.id, b.id));
  shownEdges.sort((a, b) => compare(a.source, b.source) || compare(a.target, b.target));
  return { nodes: jsonList(shownNodes), edges: jsonList(shownEdges) };
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function jsonList(items: readonly object[]): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(items.map((item) => JSON.stringify(item)).join(','));
}
