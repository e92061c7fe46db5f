import { RUN_KINDS } from '../../../signal/span.js';
import type { Table } from '../../schema/table.js';
import { LOGS } from '../../schema/log-tables.js';
import { MAP_EDGES, MAP_NODES } from '../../schema/sum-tables.js';
import { POINTS, SPANS, TRACES } from '../../schema/tables.js';
import type { Connection } from '../files/connection.js';
import { noteQuarantine } from './quarantine.js';
import { COLD, type Segment } from './segment.js';

/** Stands for the lost files among the notes of quarantined segments; no segment has this number. */
export const LOST = -1;

/** Maximum number of commits that the id files lag behind. */
const MOST_COMMITS = 100_000_000;

/**
 * After the loss of files was accepted: the remaining rows may use numbers of agents, nodes, metrics and origins whose names were
 * lost. These numbers get a placeholder name, because their rows would not be listed otherwise. New numbers and commits start after
 * those that the lost files may have used, so that none is used twice.
 *
 * @param lastSeq the last commit found in the remaining files
 * @param hot the hot segments that can be read
 */
export async function nameLostNumbers(
  connection: Connection,
  lastSeq: number,
  hot: readonly Segment[],
): Promise<void> {
  const catalogs = [COLD, ...hot.map(({ catalog }) => catalog)];
  const all = (table: string, columns: string): string =>
    `(${catalogs.map((catalog) => `SELECT ${columns} FROM ${catalog}.main.${table}`).join(' UNION ALL ')})`;
  const rest = (names: string, number: string): string =>
    `WHERE ${number} NOT IN (SELECT ${number} FROM ${all(names, number)})`;
  const insert = (table: string, columns: string, rows: string): Promise<void> =>
    connection.run(`INSERT INTO ${COLD}.main.${table} (seq, tenant, ${columns}) SELECT 0, ${rows}`);
  const isAgent = `kind = ${RUN_KINDS.indexOf('agent')}`;
  await insert(
    'agents',
    'agent_no, id, name, kind, created_at',
    `tenant, agent_no, uuidv7(), '(lost agent ' || agent_no || ')', kind, CASE WHEN ${isAgent} THEN min(started_at) END
      FROM ${all(TRACES.name, 'tenant, agent_no, kind, started_at')} ${rest('agents', 'agent_no')} GROUP BY tenant, agent_no, kind`,
  );
  const nodes = [
    all(SPANS.name, 'tenant, node_no'),
    all(MAP_NODES.name, 'tenant, node_no'),
    all(MAP_EDGES.name, 'tenant, source_no AS node_no'),
    all(MAP_EDGES.name, 'tenant, target_no AS node_no'),
  ];
  await insert(
    'services',
    'node_no, name',
    `tenant, node_no, '(lost node ' || node_no || ')' FROM (${nodes.map((one) => `SELECT * FROM ${one}`).join(' UNION ALL ')})
      ${rest('services', 'node_no')} AND node_no >= 0 GROUP BY tenant, node_no`,
  );
  await insert(
    'metric_streams',
    'replaces, stream_no, name, type, unit, description',
    `tenant, false, stream_no, '(lost metric ' || stream_no || ')', any_value(type), '', ''
      FROM ${all(POINTS.name, 'tenant, stream_no, type')} ${rest('metric_streams', 'stream_no')} GROUP BY tenant, stream_no`,
  );
  const origins = ([POINTS, LOGS] as readonly Table[]).map(({ name }) => all(name, 'tenant, origin_no'));
  await insert(
    'origins',
    'origin_no, origin',
    `tenant, origin_no, '{"resource":{},"scope":null}' FROM (${origins.map((one) => `SELECT * FROM ${one}`).join(' UNION ALL ')})
      ${rest('origins', 'origin_no')} GROUP BY tenant, origin_no`,
  );
  await noteQuarantine(connection, { segment: LOST, lastSeq: lastSeq + MOST_COMMITS, isRead: false }, hot);
}
