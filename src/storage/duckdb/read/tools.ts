import { SPAN_TYPES } from '../../../signal/span.js';
import type { Page, PageRange } from '../../contracts/paging.js';
import { MOST_NAMED, type ModelFilter, type ToolUsage } from '../../contracts/runs.js';
import { HAS_FAILED, SPANS, TRACES } from '../../schema/tables.js';
import type { Agents } from '../stats/agents.js';
import type { Connection } from '../files/connection.js';
import { literal } from '../files/database.js';
import { newest } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';
import { toolsOfRows } from '../../shared/summaries-of-rows.js';
import { dimensionsOf } from './run-conditions.js';

/** One page of tools with their calls, by number of calls, and the number of all tools. */
export async function listTools(
  connection: Connection,
  capture: Capture,
  agents: Agents,
  tenant: number,
  filter: ModelFilter,
  { offset, limit }: PageRange,
): Promise<Page<ToolUsage>> {
  const isOf = dimensionsOf(filter);
  if (filter.agent_id !== undefined) {
    const agent = agents.byId(tenant, filter.agent_id);
    if (agent === undefined) return { items: [], count: 0 };
    isOf.push(`agent_no = ${agent.agent_no}`);
  }
  const runs = newest(capture, TRACES, [`tenant = ${tenant}`, ...isOf].join(' AND '));
  const calls = newest(capture, SPANS, callsWithin(tenant, filter));
  const wanted =
    isOf.length === 0 ? calls : `(SELECT * FROM ${calls} WHERE trace_id IN (SELECT trace_id FROM ${runs}))`;
  const rows = await connection.rows(
    `SELECT * EXCLUDE (percentiles), percentiles[1] AS p50_ms, percentiles[2] AS p95_ms FROM (
       SELECT name, count(*) AS calls, count(*) FILTER (${HAS_FAILED}) AS failed, quantile_cont(duration_ms, [0.5, 0.95]) AS percentiles,
         epoch_us(max(started_at)) AS last_at FROM ${wanted} GROUP BY name)
     ORDER BY calls DESC, name LIMIT ${limit} OFFSET ${offset}`,
  );
  const [counted] = await connection.rows(`SELECT count(DISTINCT name) AS count FROM ${wanted}`);
  const count = Number(counted?.count);
  if (rows.length === 0) return { items: [], count };
  const names = rows.map(({ name }) => literal(String(name))).join(', ');
  const byAgent = await connection.rows(
    `SELECT * FROM (
       SELECT name, agent_no, count(*) AS calls, count(*) FILTER (${HAS_FAILED}) AS failed
       FROM (SELECT trace_id, name, status FROM ${wanted} WHERE name IN (${names})) JOIN (SELECT trace_id, agent_no FROM ${runs}) USING (trace_id)
       GROUP BY name, agent_no)
     QUALIFY row_number() OVER (PARTITION BY name ORDER BY calls DESC, agent_no) <= ${MOST_NAMED} ORDER BY calls DESC, agent_no`,
  );
  return { items: toolsOfRows(rows, byAgent, (agentNo) => agents.byNumber(agentNo)), count };
}

function callsWithin(tenant: number, { start_time: from, end_time: to }: ModelFilter): string {
  return [
    `tenant = ${tenant}`,
    `type = ${SPAN_TYPES.indexOf('tool')}`,
    ...(from === undefined ? [] : [`started_at >= make_timestamp(${from})`]),
    ...(to === undefined ? [] : [`started_at <= make_timestamp(${to})`]),
  ].join(' AND ');
}
