import { RUN_STATUSES, SPAN_TYPES } from '../../../src/signal/span.js';
import { readAsOne, type Query } from './stored-rows.js';

interface Stats {
  readonly error_count: number | null;
  readonly p95_ms: number | null;
}

/** A map in the API format without derived fields. */
export interface ShownMap {
  readonly nodes: readonly ({
    readonly id: string;
    readonly span_type: string;
    readonly span_count: number;
  } & Stats)[];
  readonly edges: readonly ({
    readonly source: string;
    readonly target: string;
    readonly weight: number;
  } & Stats)[];
}

const FAILED = (['failed', 'timed_out'] as const).map((status) => RUN_STATUSES.indexOf(status));
const HOUR = 3_600_000_000;

/**
 * Computes the service map of a closed store from its spans and headers in SQL.
 *
 * @param tenant number of the user
 * @param since includes traces from this hour on; null for all
 */
export async function oracleMap(path: string, tenant: number, since: number | null): Promise<ShownMap> {
  return await readAsOne(path, ['spans', 'traces', 'agents', 'services'], async (query) => {
    const window =
      since === null ? 'TRUE' : `t.started_at >= make_timestamp(${Math.floor(since / HOUR) * HOUR})`;
    await query(`CREATE TEMP TABLE run AS
      SELECT t.trace_id, (SELECT any_value(name) FROM agents a WHERE a.agent_no = t.agent_no) AS agent
      FROM newest_traces t WHERE t.tenant = ${tenant} AND t.is_mapped AND ${window}`);
    await query(`CREATE TEMP TABLE span AS
      SELECT s.trace_id, s.span_id, s.parent_span_id AS parent, s.type, s.status IN (${FAILED.join(', ')}) AS failed,
        epoch_us(s.ended_at) - epoch_us(s.started_at) AS micros,
        CASE s.node_no WHEN -2 THEN run.agent WHEN -1 THEN NULL ELSE v.name END AS node
      FROM newest_spans s JOIN run USING (trace_id)
      LEFT JOIN services v ON v.node_no = s.node_no WHERE s.tenant = ${tenant}`);
    // Walks up from every span with a node, past spans without one. UNION ends cycles.
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

const STATS_COLUMNS = `count(*) FILTER (failed)::INTEGER AS errors, string_agg(micros, ',' ORDER BY micros) AS micros`;

/** The exact 95th percentile, interpolated between the two nearest ranks. */
function statsOf({ errors, micros }: Readonly<Record<string, unknown>>): Stats {
  const all = typeof micros === 'string' ? micros.split(',').map(Number) : [];
  const rank = 0.95 * (all.length - 1);
  const [lower, upper] = [all[Math.floor(rank)], all[Math.ceil(rank)]];
  if (lower === undefined || upper === undefined) return { error_count: Number(errors), p95_ms: null };
  return {
    error_count: Number(errors),
    p95_ms: (lower + (upper - lower) * (rank - Math.floor(rank))) / 1000,
  };
}

/** Compares maps; percentiles may differ by 1%, as the API says, and by the rounding to a microsecond. @throws Error with both maps */
export function sameMap(found: ShownMap, expected: ShownMap): void {
  const isClose = (a: number | null, b: number | null): boolean =>
    a === null || b === null ? a === b : Math.abs(a - b) <= 0.01 * b + 0.001;
  const items = (map: ShownMap): readonly Stats[] => [...map.nodes, ...map.edges];
  const others = items(expected);
  const areClose = items(found).every(({ p95_ms }, i) => isClose(p95_ms, others[i]?.p95_ms ?? null));
  const exact = (map: ShownMap): string =>
    JSON.stringify(map, (key, value: unknown) => (key === 'p95_ms' ? undefined : value));
  if (!areClose || exact(found) !== exact(expected))
    throw new Error(`expected ${JSON.stringify(expected)} and got ${JSON.stringify(found)}`);
}

/** UTF-8 byte order. JavaScript's UTF-16 order sorts U+FFFD after supplementary characters. */
const byCodePoints = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

async function nodesOf(query: Query): Promise<ShownMap['nodes']> {
  const found =
    await query(`SELECT id, min(type) AS type, sum(spans)::INTEGER AS spans, ${STATS_COLUMNS} FROM (
      SELECT agent AS id, ${SPAN_TYPES.indexOf('agent')} AS type, 0 AS spans, FALSE AS failed, NULL AS micros FROM run
      UNION ALL SELECT node, type, 1, failed, micros FROM span WHERE node IS NOT NULL) GROUP BY id`);
  return found
    .map(({ id, type, spans, ...row }) => ({
      id: String(id),
      span_type: SPAN_TYPES[Number(type)] ?? '',
      span_count: Number(spans),
      ...statsOf(row),
    }))
    .sort((a, b) => byCodePoints(a.id, b.id));
}

async function edgesOf(query: Query): Promise<ShownMap['edges']> {
  const found = await query(`SELECT source, target, count(*)::INTEGER AS weight, ${STATS_COLUMNS} FROM (
      SELECT coalesce(c.node, CASE WHEN NOT EXISTS (
          SELECT 1 FROM span a WHERE a.trace_id = s.trace_id AND a.type = ${SPAN_TYPES.indexOf('agent')})
        THEN run.agent END) AS source, s.node AS target, s.failed, s.micros
      FROM span s JOIN run USING (trace_id) LEFT JOIN caller c ON c.trace_id = s.trace_id AND c.span_id = s.span_id
      WHERE s.node IS NOT NULL) WHERE source <> target GROUP BY source, target`);
  return found
    .map(({ source, target, weight, ...row }) => ({
      source: String(source),
      target: String(target),
      weight: Number(weight),
      ...statsOf(row),
    }))
    .sort((a, b) => byCodePoints(`${a.source}\0${a.target}`, `${b.source}\0${b.target}`));
}
