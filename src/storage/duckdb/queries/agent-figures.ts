import { RUN_STATUSES } from '../../../signal/span.js';
import type { AgentComparison, AgentDay, AgentSummary } from '../../telemetry-store.js';
import { TRACES } from '../../tables.js';
import type { Agent, Agents } from '../agents.js';
import type { Connection, Row } from '../database.js';
import { newest } from '../relation.js';
import type { Capture } from '../segments.js';
import { number } from './run-summary.js';

// Sums instead of `count(*) FILTER (…)`, which doubles the time of the whole query.
const COUNTS = `count(*) AS total_runs,
  coalesce(sum(success::TINYINT), 0)::BIGINT AS success_count,
  (count(success) - coalesce(sum(success::TINYINT), 0))::BIGINT AS failure_count`;
/** Summed exactly, and only then turned into the nearest double: a sum may be larger than any integer type. */
const COSTS = `round(sum(total_cost_usd)::DOUBLE * 1e6) AS total_cost, count(total_cost_usd) AS priced_runs`;
const P95 = 'quantile_cont(duration_ms, 0.95) AS p95_latency_ms';
const FAILED = ['failed', 'timed_out'].map((status) => RUN_STATUSES.findIndex((known) => known === status));

/** All agents of a tenant that have runs, the one that ran last first. */
export async function listAgents(
  connection: Connection,
  capture: Capture,
  agents: Agents,
  tenant: number,
): Promise<AgentSummary[]> {
  const rows = await summaries(connection, capture, `tenant = ${tenant}`);
  return rows
    .flatMap((row) => {
      const agent = agents.byNumber(Number(row.agent_no));
      return agent === undefined ? [] : [summary(agent, row)];
    })
    .sort((a, b) => (b.last_run_at ?? 0) - (a.last_run_at ?? 0) || compareText(a.name, b.name));
}

/** Agents with their 95th percentile of duration, in the order given. */
export async function compareAgents(
  connection: Connection,
  capture: Capture,
  compared: readonly Agent[],
): Promise<AgentComparison[]> {
  const [first] = compared;
  if (first === undefined) return [];
  const numbers = [...new Set(compared.map((agent) => agent.agent_no))].join(', ');
  const rows = await summaries(
    connection,
    capture,
    `tenant = ${first.tenant} AND agent_no IN (${numbers})`,
    `, ${P95}`,
  );
  return compared.map((agent) => {
    const row = rows.find((candidate) => candidate.agent_no === agent.agent_no) ?? {};
    return { ...summary(agent, row), p95_latency_ms: number(row.p95_latency_ms) };
  });
}

export async function readAgent(
  connection: Connection,
  capture: Capture,
  agent: Agent,
): Promise<AgentSummary> {
  const [row = {}] = await summaries(
    connection,
    capture,
    `tenant = ${agent.tenant} AND agent_no = ${agent.agent_no}`,
  );
  return summary(agent, row);
}

/** The UTC days on which the agent's runs started, oldest first. */
export async function agentDays(
  connection: Connection,
  capture: Capture,
  agent: Agent,
  range: { readonly from: number; readonly to: number },
): Promise<AgentDay[]> {
  const where = `tenant = ${agent.tenant} AND agent_no = ${agent.agent_no} AND started_at >= make_timestamp(${range.from}) AND started_at <= make_timestamp(${range.to})`;
  const rows = await connection.rows(
    `SELECT (started_at::DATE)::VARCHAR AS date, ${COUNTS}, ${COSTS},
       sum((status IN (${FAILED.join(', ')}))::TINYINT)::BIGINT AS failed_runs,
       coalesce(sum(total_tokens), 0)::DOUBLE AS total_tokens, avg(duration_ms) AS avg_latency_ms, ${P95}
     FROM ${newest(capture, TRACES, where)} GROUP BY started_at::DATE ORDER BY started_at::DATE`,
  );
  return rows.map((row) => ({
    date: String(row.date),
    total_runs: Number(row.total_runs),
    success_count: Number(row.success_count),
    failure_count: Number(row.failure_count),
    failed_runs: Number(row.failed_runs),
    total_cost: number(row.total_cost) ?? 0,
    total_tokens: Number(row.total_tokens),
    avg_latency_ms: number(row.avg_latency_ms),
    p95_latency_ms: number(row.p95_latency_ms),
  }));
}

async function summaries(connection: Connection, capture: Capture, where: string, more = ''): Promise<Row[]> {
  return await connection.rows(
    `SELECT agent_no, ${COUNTS}, ${COSTS}, epoch_us(max(started_at)) AS last_run_at${more}
     FROM ${newest(capture, TRACES, where)} GROUP BY agent_no`,
  );
}

/** @param row of {@link summaries}; empty for an agent without runs */
function summary(agent: Agent, row: Row): AgentSummary {
  const cost = number(row.total_cost);
  const priced = number(row.priced_runs) ?? 0;
  return {
    id: agent.id,
    name: agent.name,
    total_runs: number(row.total_runs) ?? 0,
    success_count: number(row.success_count) ?? 0,
    failure_count: number(row.failure_count) ?? 0,
    total_cost: cost,
    avg_cost_per_run: cost === null || priced === 0 ? null : cost / priced,
    last_run_at: number(row.last_run_at),
    created_at: agent.created_at,
  };
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
