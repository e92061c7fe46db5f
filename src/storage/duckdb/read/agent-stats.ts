import { meanCost } from '../../../signal/money.js';
import { itemAt } from '../../../signal/checked.js';
import { FAILED } from '../../../runs/rules/run-outcome.js';
import { RUNNING } from '../../../runs/rules/rows.js';
import type { Micros } from '../../../signal/time.js';
import type { AgentComparison, AgentDay, AgentSummary, TimeRange } from '../../contracts/runs.js';
import { estimateOfRow } from '../../shared/summaries-of-rows.js';
import { HAS_FAILED, TRACES } from '../../schema/tables.js';
import type { Agent, KnownAgent } from '../stats/agents.js';
import type { Connection } from '../files/connection.js';
import type { Read } from '../segments/read.js';
import { newest } from '../segments/relation.js';
import type { AgentTotals } from '../stats/counted-run.js';
import type { CellReading } from '../stats/run-cells.js';
import type { RunStats } from '../stats/run-stats.js';
import type { Capture } from '../segments/segment.js';
import { ESTIMATES } from './estimates.js';
import { number, sumOf } from '../write/run-summary.js';
import { runsOf } from '../stats/stored-runs.js';

const DAY = 86_400_000_000;

// Sums in place of `count(*) FILTER (…)`, which would double the time of the whole query.
const COUNTS = `count(*) AS total_runs,
  coalesce(sum(success::TINYINT), 0)::BIGINT AS success_count,
  (count(success) - coalesce(sum(success::TINYINT), 0))::BIGINT AS failure_count`;
const OUTCOMES = `sum((${HAS_FAILED})::TINYINT)::BIGINT AS failed_runs,
  sum((status <> ${RUNNING})::TINYINT)::BIGINT AS finished_runs`;
/** As text, since the exact sum may be larger than any number that JavaScript has. */
const COSTS = 'sum(total_cost_usd)::VARCHAR AS total_cost';
const P95 = 'quantile_cont(duration_ms, 0.95) AS p95_latency_ms';

/** Agents of one user with their 95th percentile of duration, in the order given. */
export async function compareAgents(
  read: Read,
  stats: RunStats,
  tenant: number,
  compared: readonly KnownAgent[],
): Promise<AgentComparison[]> {
  if (compared.length === 0) return [];
  const of = { tenant, numbers: compared.map((agent) => agent.agent_no) };
  const starts = await stats.loadNewest(read, of);
  return await read(async (connection, capture) => {
    // Memory first: commits change it while the table is read.
    const summaries = compared.map((agent) => summary(agent, stats.totals(agent.agent_no), starts));
    const rows = await connection.rows(
      `SELECT agent_no, ${P95} FROM ${newest(capture, TRACES, runsOf(of))} GROUP BY agent_no`,
    );
    const found = new Map(rows.map((row) => [Number(row.agent_no), number(row.p95_latency_ms)]));
    return compared.map(({ agent_no }, i) => ({
      ...itemAt(summaries, i),
      p95_latency_ms: found.get(agent_no) ?? null,
    }));
  });
}

/**
 * Agents with runs that meet some conditions, and the stats of these runs. The stats in memory do not tell such runs apart.
 *
 * @param agents of one user
 */
export async function agentsWithRuns(
  connection: Connection,
  capture: Capture,
  agents: readonly KnownAgent[],
  conditions: readonly string[],
): Promise<AgentSummary[]> {
  const known = new Map(agents.filter(({ kind }) => kind === 'agent').map((one) => [one.agent_no, one]));
  const [first] = known.values();
  if (first === undefined) return [];
  const isOf = [runsOf({ tenant: first.tenant, numbers: [...known.keys()] }), ...conditions].join(' AND ');
  const rows = await connection.rows(
    `SELECT agent_no, ${COUNTS}, ${COSTS}, count(total_cost_usd) AS priced_runs, ${OUTCOMES}, epoch_us(max(started_at)) AS last_run_at
     FROM ${newest(capture, TRACES, isOf)} GROUP BY agent_no`,
  );
  return rows.flatMap((row) => {
    const agent = known.get(Number(row.agent_no));
    if (agent === undefined) return [];
    const total_cost = sumOf(row.total_cost);
    return {
      id: agent.id,
      name: agent.name,
      total_runs: Number(row.total_runs),
      success_count: Number(row.success_count),
      failure_count: Number(row.failure_count),
      failed_runs: Number(row.failed_runs),
      finished_runs: Number(row.finished_runs),
      total_cost,
      avg_cost_per_run: total_cost === null ? null : meanCost(total_cost, Number(row.priced_runs)),
      last_run_at: Number(row.last_run_at),
      created_at: agent.created_at,
    };
  });
}

export async function readAgent(read: Read, stats: RunStats, agent: KnownAgent): Promise<AgentSummary> {
  const starts = await stats.loadNewest(read, { tenant: agent.tenant, numbers: [agent.agent_no] });
  return summary(agent, stats.totals(agent.agent_no), starts);
}

/** The UTC days on which the agent's runs started, oldest first. Cached whole days are not read again. */
export async function agentDays(
  {
    connection,
    capture,
    kept,
  }: {
    readonly connection: Connection;
    readonly capture: Capture;
    readonly kept: CellReading<AgentDay>;
  },
  agent: Agent,
  range: TimeRange,
): Promise<AgentDay[]> {
  const { tenant, agent_no } = agent;
  const isWhole = range.from % DAY === 0 && (range.to + 1) % DAY === 0;
  if (!isWhole) return await readDays(connection, capture, agent, range);
  const view = { tenant, agentNos: [agent_no], key: 'days', interval: DAY };
  const days = new Map(kept.known(view));
  const starts = Array.from({ length: (range.to + 1 - range.from) / DAY }, (_, i) => range.from + i * DAY);
  const missing = starts.filter((start) => !days.has(start));
  const [first, last] = [missing[0], missing.at(-1)];
  if (first !== undefined && last !== undefined) {
    const read = await readDays(connection, capture, agent, { from: first, to: last + DAY - 1 });
    const byStart = new Map(read.map((day) => [Date.parse(day.date) * 1000, day]));
    const found = starts
      .filter((start) => start >= first && start <= last)
      .map((start) => [start, [byStart.get(start) ?? []].flat()] as const);
    kept.keep(view, new Map(found));
    for (const [start, day] of found) days.set(start, day);
  }
  return starts.flatMap((start) => days.get(start) ?? []);
}

async function readDays(
  connection: Connection,
  capture: Capture,
  agent: Agent,
  range: TimeRange,
): Promise<AgentDay[]> {
  const where = `tenant = ${agent.tenant} AND agent_no = ${agent.agent_no} AND started_at >= make_timestamp(${range.from}) AND started_at <= make_timestamp(${range.to})`;
  const rows = await connection.rows(
    `SELECT (started_at::DATE)::VARCHAR AS date, ${COUNTS}, ${COSTS},
       ${OUTCOMES},
       coalesce(sum(total_tokens), 0)::DOUBLE AS total_tokens, avg(duration_ms) AS avg_latency_ms, ${P95}, ${ESTIMATES}
     FROM ${newest(capture, TRACES, where)} GROUP BY started_at::DATE ORDER BY started_at::DATE`,
  );
  return rows.map((row) => ({
    date: String(row.date),
    total_runs: Number(row.total_runs),
    success_count: Number(row.success_count),
    failure_count: Number(row.failure_count),
    failed_runs: Number(row.failed_runs),
    finished_runs: Number(row.finished_runs),
    total_cost: sumOf(row.total_cost) ?? 0,
    total_tokens: Number(row.total_tokens),
    avg_latency_ms: number(row.avg_latency_ms),
    p95_latency_ms: number(row.p95_latency_ms),
    estimate: estimateOfRow(row),
  }));
}

/**
 * @param totals undefined for an agent without runs
 * @param starts for an agent whose totals lack the newest start
 */
export function summary(
  agent: KnownAgent,
  totals: AgentTotals | undefined,
  starts: ReadonlyMap<number, Micros>,
): AgentSummary {
  const cost = totals?.cost ?? null;
  return {
    id: agent.id,
    name: agent.name,
    total_runs: totals?.runs ?? 0,
    success_count: totals?.successes ?? 0,
    failure_count: totals?.failures ?? 0,
    failed_runs:
      totals === undefined ? 0 : FAILED.reduce((sum, code) => sum + itemAt(totals.byStatus, code), 0),
    finished_runs: totals === undefined ? 0 : totals.runs - itemAt(totals.byStatus, RUNNING),
    total_cost: cost,
    avg_cost_per_run: cost === null ? null : meanCost(cost, totals?.pricedRuns ?? 1),
    last_run_at: totals?.newestStart ?? starts.get(agent.agent_no) ?? null,
    created_at: agent.created_at,
  };
}
