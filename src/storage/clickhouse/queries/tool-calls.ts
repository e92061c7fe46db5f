import { TYPE_CODES } from '../../../signal/trace-map.js';
import { HAS_FAILED } from '../../schema/tables.js';
import type { Page, PageRange } from '../../contracts/paging.js';
import { MOST_NAMED, type ModelFilter, type ToolUsage } from '../../contracts/runs.js';
import { toolsOfRows } from '../../shared/summaries-of-rows.js';
import { quoted } from '../client/literals.js';
import { callsOf, wantedRuns } from './call-sums.js';
import type { ListParts } from './listed-runs.js';

const COLUMNS = ['name', 'status', 'duration_ms'] as const;
const IS_TOOL = `type = ${TYPE_CODES.tool}`;

/** One page of tools with their calls, by number of calls, and the number of all tools. */
export async function listTools(
  { reads, names }: ListParts,
  tenant: number,
  filter: ModelFilter,
  { offset, limit }: PageRange,
  abort: AbortSignal | undefined,
): Promise<Page<ToolUsage>> {
  const calls = await callsOf({ names }, tenant, filter, COLUMNS, IS_TOOL);
  const isOfRun = await wantedRuns({ names }, tenant, filter);
  if (calls === null || isOfRun === null) return { items: [], count: 0 };
  const [counted, rows] = await Promise.all([
    reads.rows(`SELECT uniqExact(name) AS tools FROM ${calls}`, abort),
    reads.rows(
      `SELECT name, count() AS calls, countIf(${HAS_FAILED}) AS failed, quantileExactInclusiveOrNull(0.5)(duration_ms) AS p50_ms,
         quantileExactInclusiveOrNull(0.95)(duration_ms) AS p95_ms, max(started_at) AS last_at
       FROM ${calls} GROUP BY name ORDER BY calls DESC, name LIMIT ${limit} OFFSET ${offset}`,
      abort,
    ),
  ]);
  const count = Number(counted[0]?.tools);
  if (rows.length === 0) return { items: [], count };
  const wanted = rows.map(({ name }) => quoted(String(name))).join(', ');
  const byAgent = await reads.rows(
    `SELECT name, agent_no, count() AS calls, countIf(${HAS_FAILED}) AS failed
     FROM (SELECT trace_id, name, status FROM ${calls} WHERE name IN (${wanted})) AS c
     INNER JOIN (SELECT trace_id, agent_no FROM runs FINAL WHERE tenant = ${tenant} AND ${isOfRun}) AS r ON r.trace_id = c.trace_id
     GROUP BY name, agent_no ORDER BY calls DESC, agent_no LIMIT ${MOST_NAMED} BY name`,
    abort,
  );
  const agents = await names.of(tenant, new Set(byAgent.map((row) => Number(row.agent_no))));
  return { items: toolsOfRows(rows, byAgent, (agentNo) => agents.byNumber(agentNo)), count };
}
