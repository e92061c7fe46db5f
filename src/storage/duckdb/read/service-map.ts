import { SPAN_TYPES, type SpanType } from '../../../signal/span.js';
import { nodeTypeOf, type MapRange } from '../../contracts/service-map.js';
import { MAP_EDGES, MAP_NODES, SERVICES } from '../../schema/sum-tables.js';
import type { Connection } from '../files/connection.js';
import { relation } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';
import { statsOf } from './map-stats.js';
import { sumsWithin } from './map-hours.js';
import { PART_BYTES } from '../segments/read-limits.js';

/** The lists of a service map. */
export type MapList = 'nodes' | 'edges';

/** A part of a list, each item as the API shows it. */
export interface MapPage {
  /** The inside of a JSON array (`{…},{…}`). */
  readonly json: Uint8Array<ArrayBuffer>;
  /** The names of the last item if more items follow, otherwise null. */
  readonly next: readonly string[] | null;
}

/**
 * A page of a user's service map: nodes by id, or edges by source and target. DuckDB serializes the JSON in its own threads: for
 * 50 000 nodes this takes a third of a second, which would delay all commits here.
 */
export async function readMapPage(
  connection: Connection,
  capture: Capture,
  { tenant, range, list, after }: WantedPage,
): Promise<MapPage> {
  const where = sumsWithin(tenant, range);
  const names = `SELECT node_no, name FROM ${relation(capture, SERVICES, `tenant = ${tenant}`)}`;
  const { sums, items, keys } = list === 'nodes' ? nodesOf(capture, where) : edgesOf(capture, where);
  const later =
    after === null ? '' : `WHERE (${keys.join(', ')}) > (${keys.map((_, i) => `$${i + 1}`).join(', ')})`;
  const order = `ORDER BY ${keys.join(', ')}`;
  const inOrder = `OVER (${order} ROWS UNBOUNDED PRECEDING)`;
  const last = keys.map((key) => `arg_max(${key}, place) AS last_${key}`).join(', ');
  const [row] = await connection.rows(
    `WITH names AS MATERIALIZED (${names}),
      sums AS MATERIALIZED (${sums}),
      items AS (${items}),
      sized AS (SELECT *, row_number() ${inOrder} AS place, sum(strlen(item)) ${inOrder} AS upto, count(*) OVER () AS items FROM items ${later})
    SELECT string_agg(item, ',' ORDER BY place) AS list, count(*) = any_value(items) AS is_all, ${last}
    FROM sized WHERE place = 1 OR upto <= ${PART_BYTES}`,
    after ?? [],
  );
  const text = typeof row?.list === 'string' ? row.list : '';
  const isOver = text === '' || row?.is_all === true;
  return {
    json: new TextEncoder().encode(text),
    next: isOver ? null : keys.map((key) => String(row?.[`last_${key}`])),
  };
}

interface WantedPage {
  readonly tenant: number;
  readonly range: MapRange;
  readonly list: MapList;
  /** The names of the last item of the previous part. */
  readonly after: readonly string[] | null;
}

/** Items in SQL, over `names` and `sums`, and the columns by which they are ordered. */
interface Items {
  readonly sums: string;
  readonly items: string;
  readonly keys: readonly string[];
}

function nodesOf(capture: Capture, where: string): Items {
  const sums = `SELECT node_no, type, grade, sum(spans)::BIGINT AS spans, sum(traces)::BIGINT AS traces FROM ${relation(capture, MAP_NODES, where)} GROUP BY ALL`;
  // If spans of several types make a node, the lowest type code counts: agent, service, database, external.
  const byType = `SELECT node_no, type, sum(spans) AS spans FROM sums GROUP BY node_no, type HAVING sum(spans) > 0 OR sum(traces) > 0`;
  const nodes = `SELECT node_no, min(type) AS type, sum(spans)::BIGINT AS spans FROM (${byType}) GROUP BY node_no`;
  const json = `json_object('id', v.name, 'name', v.name, 'node_type', ${NODE_TYPE}, 'span_type', ${SPAN_TYPE}, 'span_count', n.spans, ${STATS_COLUMNS})`;
  return {
    sums,
    items: `SELECT v.name AS id, ${json}::VARCHAR AS item FROM (${nodes}) n JOIN names v USING (node_no) JOIN (${statsOf('sums', 'node_no')}) f USING (node_no)`,
    keys: ['id'],
  };
}

function edgesOf(capture: Capture, where: string): Items {
  const sums = `SELECT source_no, target_no, grade, sum(spans)::BIGINT AS spans FROM ${relation(capture, MAP_EDGES, where)} GROUP BY ALL`;
  const edges = `SELECT source_no, target_no, sum(spans)::BIGINT AS spans FROM sums GROUP BY source_no, target_no HAVING sum(spans) > 0`;
  const json = `json_object('source', s.name, 'target', t.name, 'weight', e.spans, ${STATS_COLUMNS})`;
  return {
    sums,
    items: `SELECT s.name AS source, t.name AS target, ${json}::VARCHAR AS item
      FROM (${edges}) e JOIN names s ON s.node_no = e.source_no JOIN names t ON t.node_no = e.target_no
      JOIN (${statsOf('sums', 'source_no, target_no')}) f USING (source_no, target_no)`,
    keys: ['source', 'target'],
  };
}

const STATS_COLUMNS = `'error_count', f.error_count, 'p95_ms', f.p95_ms`;
const SPAN_TYPE = byCode((type) => type);
const NODE_TYPE = byCode(nodeTypeOf);

/** Maps the code of a span's type to a text, in SQL. */
function byCode(textOf: (type: SpanType) => string): string {
  const cases = SPAN_TYPES.map((type, code) => `WHEN ${code} THEN '${textOf(type)}'`);
  return `CASE n.type ${cases.join(' ')} END`;
}
