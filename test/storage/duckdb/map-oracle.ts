import { SPAN_TYPES } from '../../../src/signal/span.js';
import { readAsOne, type Query } from './stored-rows.js';

/** A map as the API shows it, without what follows from the rest. */
export interface ShownMap {
  readonly nodes: readonly { readonly id: string; readonly span_type: string; readonly span_count: number }[];
  readonly edges: readonly { readonly source: string; readonly target: string; readonly weight: number }[];
}

const HOUR = 3_600_000_000;

/**
 * The service map of a closed store, worked out from its spans and headers by SQL alone.
 *
 * @param tenant the number of its user
 * @param since traces from the start of its hour on; null for all
 */
export async function oracleMap(path: string, tenant: number, since: number | null): Promise<ShownMap> {
  return await readAsOne(path, ['spans', 'traces', 'agents', 'services'], async (query) => {
    const window =
      since === null ? 'TRUE' : `t.started_at >= make_timestamp(${Math.floor(since / HOUR) * HOUR})`;
    await query(`CREATE TEMP TABLE run AS
      SELECT t.trace_id, (SELECT any_value(name) FROM agents a WHERE a.agent_no = t.agent_no) AS agent
      FROM newest_traces t WHERE t.tenant = ${tenant} AND t.is_mapped AND ${window}`);
    await query(`CREATE TEMP TABLE span AS
      SELECT s.trace_id, s.span_id, s.parent_span_id AS parent, s.type,
        CASE s.node_no WHEN -2 THEN run.agent WHEN -1 THEN NULL ELSE v.name END AS node
      FROM newest_spans s JOIN run USING (trace_id)
      LEFT JOIN services v ON v.node_no = s.node_no WHERE s.tenant = ${tenant}`);
    // Upwards from every span with a node, past those without. UNION ends circles.
    await query(`CREATE TEMP TABLE caller AS
      WITH RECURSIVE up AS (
        SELECT trace_id, span_id AS child, parent FROM span WHERE node IS NOT NULL
        UNION
        SELECT up.trace_id, up.child, s.parent FROM up JOIN span s
          ON s.trace_id = up.trace_id AND s.span_id = up.parent WHERE s.node IS NULL)
      SELECT up.trace_id, up.child AS span_id, s.node FROM up JOIN span s
        ON s.trace_id = up.trace_id AND s.span_id = up.parent WHERE s.node IS NOT NULL`);
    return { nodes: await nodesOf(query), edges: await edgesOf(query) };
  });
}

/** The order of UTF-8's bytes. JavaScript's own, of UTF-16, puts U+FFFD behind what lies beyond U+FFFF. */
const byCodePoints = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

async function nodesOf(query: Query): Promise<ShownMap['nodes']> {
  const found = await query(`SELECT id, min(type) AS type, sum(spans)::INTEGER AS spans FROM (
      SELECT agent AS id, ${SPAN_TYPES.indexOf('agent')} AS type, 0 AS spans FROM run
      UNION ALL SELECT node, type, 1 FROM span WHERE node IS NOT NULL) GROUP BY id`);
  return found
    .map(({ id, type, spans }) => ({
      id: String(id),
      span_type: SPAN_TYPES[Number(type)] ?? '',
      span_count: Number(spans),
    }))
    .sort((a, b) => byCodePoints(a.id, b.id));
}

async function edgesOf(query: Query): Promise<ShownMap['edges']> {
  const found = await query(`SELECT source, target, count(*)::INTEGER AS weight FROM (
      SELECT coalesce(c.node, CASE WHEN NOT EXISTS (
          SELECT 1 FROM span a WHERE a.trace_id = s.trace_id AND a.type = ${SPAN_TYPES.indexOf('agent')})
        THEN run.agent END) AS source, s.node AS target
      FROM span s JOIN run USING (trace_id) LEFT JOIN caller c ON c.trace_id = s.trace_id AND c.span_id = s.span_id
      WHERE s.node IS NOT NULL) WHERE source <> target GROUP BY source, target`);
  return found
    .map(({ source, target, weight }) => ({
      source: String(source),
      target: String(target),
      weight: Number(weight),
    }))
    .sort((a, b) => byCodePoints(`${a.source}\0${a.target}`, `${b.source}\0${b.target}`));
}
