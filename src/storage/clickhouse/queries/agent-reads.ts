import { RUNNING } from '../../../runs/rules/rows.js';
import { meanCost, sumToNumber, type Usd } from '../../../signal/money.js';
import { RUN_KINDS } from '../../../signal/span.js';
import { MICROS_PER_HOUR } from '../../../signal/time-units.js';
import { HAS_FAILED } from '../../schema/tables.js';
import type {
  AgentComparison,
  AgentDay,
  AgentDays,
  AgentFilter,
  Agents,
  AgentSummary,
  EstimatedRuns,
  TimeRange,
} from '../../contracts/runs.js';
import { inOrder } from '../../shared/agents-in-order.js';
import { formatDay } from '../../contracts/telemetry-writer.js';
import type { Page, PageRange } from '../../contracts/paging.js';
import { isKnown, type AgentsOfUser, type KnownAgent } from '../names/agent-names.js';
import { estimateOfRow, numberOf, textOf } from '../../shared/summaries-of-rows.js';
import { dimensionsOf } from './run-conditions.js';
import type { ListParts } from './listed-runs.js';
import type { Row } from '../client/connection.js';
import { agentOfPeriods } from '../../shared/run-groups.js';
import { periodsOfAgents } from './run-groups.js';

const AGENTS_RUNS = `kind = ${RUN_KINDS.indexOf('agent')}`;
const HOURS_A_DAY = 24;
const COUNTS = `count() AS total_runs, countIf(success) AS success_count, countIf(NOT success) AS failure_count,
  countIf(${HAS_FAILED}) AS failed_runs, countIf(status <> ${RUNNING}) AS finished_runs`;
/** As text, because the exact sum may exceed the safe integers of JavaScript. */
const COST = 'toString(sum(toInt128(total_cost_usd))) AS total_cost, count(total_cost_usd) AS priced_runs';
const P95 = 'quantileExactInclusiveOrNull(0.95)(duration_ms) AS p95_latency_ms';

/** How many runs a sampled run represents (Horvitz-Thompson estimator: the expected sum is the number without sampling). */
const WEIGHT = '(1 / ifNull(sample_rate, 1))';
const weighed = (what: string): string => `ifNull(sum(${WEIGHT} * toFloat64(${what})), 0)`;
const ESTIMATES = `count() AS counted_runs, countIf(sample_rate < 1) AS sampled_runs, sum(${WEIGHT}) AS e_runs,
  ${weighed('success')} AS e_successes, ${weighed('NOT success')} AS e_failures,
  ${weighed(HAS_FAILED)} AS e_failed, ${weighed(`status <> ${RUNNING}`)} AS e_finished,
  ${weighed('total_cost_usd')} AS e_cost, ${weighed('total_tokens')} AS e_tokens,
  sum(${WEIGHT} * duration_ms) / sumIf(${WEIGHT}, duration_ms IS NOT NULL) AS e_latency`;

/** The contract `Agents` over the rows of runs. */
export class AgentReads implements Agents {
  readonly #parts: ListParts;
  readonly #tenantOf: (userId: string) => Promise<number>;

  constructor(parts: ListParts, tenantOf: (userId: string) => Promise<number>) {
    this.#parts = parts;
    this.#tenantOf = tenantOf;
  }

  async list(userId: string, abort?: AbortSignal): Promise<readonly AgentSummary[]> {
    return (await this.#withRuns(userId, (agents) => agents.known(), abort)).sort(inOrder('-last_run_at'));
  }

  async find(
    userId: string,
    { query = '', sort = '-last_run_at', period, ...versions }: AgentFilter,
    { offset, limit }: PageRange,
    abort?: AbortSignal,
  ): Promise<Page<AgentSummary>> {
    const matching = (agents: AgentsOfUser): KnownAgent[] =>
      query === '' ? agents.known() : agents.matching(query).filter(isKnown);
    const found =
      period === undefined
        ? await this.#withRuns(userId, matching, abort, dimensionsOf(versions))
        : await this.#withPeriods(userId, matching, abort, { ...versions, ...period });
    return { items: found.sort(inOrder(sort)).slice(offset, offset + limit), count: found.length };
  }

  async read(userId: string, agentId: string, abort?: AbortSignal): Promise<AgentSummary | null> {
    const [found] = (await this.#named(userId, [agentId])) ?? [];
    if (found === undefined) return null;
    const rows = await this.#totals(found.tenant, [found], '', abort);
    return summary(found, rows.get(found.number));
  }

  async days(
    userId: string,
    agentId: string,
    { from, to }: TimeRange,
    abort?: AbortSignal,
  ): Promise<AgentDays | null> {
    const [agent] = (await this.#named(userId, [agentId])) ?? [];
    if (agent === undefined) return null;
    const hours = `hour BETWEEN ${Math.floor(from / MICROS_PER_HOUR)} AND ${Math.floor(to / MICROS_PER_HOUR)}`;
    const rows = await this.#parts.reads.rows(
      `SELECT floor(hour / ${HOURS_A_DAY}) AS day, ${COUNTS}, ${COST}, toFloat64(sum(toInt128(total_tokens))) AS tokens,
         avg(duration_ms) AS avg_latency_ms, ${P95}, ${ESTIMATES}
       FROM runs FINAL WHERE ${whereOf(agent.tenant, [agent])} AND ${hours} AND started_at BETWEEN ${from} AND ${to}
       GROUP BY day ORDER BY day`,
      abort,
    );
    return { name: agent.name, days: rows.map(dayOf) };
  }

  async estimate(userId: string, agentId: string, abort?: AbortSignal): Promise<EstimatedRuns | null> {
    const [agent] = (await this.#named(userId, [agentId])) ?? [];
    if (agent === undefined) return null;
    const [row] = await this.#parts.reads.rows(
      `SELECT ${ESTIMATES} FROM runs FINAL WHERE ${whereOf(agent.tenant, [agent])}`,
      abort,
    );
    return estimateOfRow(row ?? {});
  }

  async compare(
    userId: string,
    agentIds: readonly string[],
    abort?: AbortSignal,
  ): Promise<readonly AgentComparison[] | null> {
    const agents = await this.#named(userId, agentIds);
    if (agents === null) return null;
    const [first] = agents;
    if (first === undefined) return [];
    const rows = await this.#totals(first.tenant, agents, `, ${P95}`, abort);
    return agents.map((agent) => {
      const row = rows.get(agent.number);
      return { ...summary(agent, row), p95_latency_ms: numberOf(row?.p95_latency_ms) };
    });
  }

  /** @returns null if any of them is unknown */
  async #named(userId: string, agentIds: readonly string[]): Promise<readonly KnownAgent[] | null> {
    const agents = await this.#parts.names.of(await this.#tenantOf(userId));
    const found = agentIds.map((id) => agents.byId(id)).filter(isKnown);
    return found.length < agentIds.length ? null : found;
  }

  /** Agents that have runs. @param conditions for the runs that count */
  async #withRuns(
    userId: string,
    pick: (agents: AgentsOfUser) => readonly KnownAgent[],
    abort: AbortSignal | undefined,
    conditions: readonly string[] = [],
  ): Promise<AgentSummary[]> {
    const tenant = await this.#tenantOf(userId);
    const agents = pick(await this.#parts.names.of(tenant));
    if (agents.length === 0) return [];
    const rows = await this.#totals(tenant, agents, '', abort, conditions);
    return agents.flatMap((agent) => {
      const row = rows.get(agent.number);
      return row === undefined ? [] : summary(agent, row);
    });
  }

  /** Agents with runs in a period or in the one before. */
  async #withPeriods(
    userId: string,
    pick: (agents: AgentsOfUser) => readonly KnownAgent[],
    abort: AbortSignal | undefined,
    request: Parameters<typeof periodsOfAgents>[2],
  ): Promise<AgentSummary[]> {
    const tenant = await this.#tenantOf(userId);
    const agents = pick(await this.#parts.names.of(tenant));
    const periods = await periodsOfAgents(this.#parts, tenant, request, abort);
    return agents.flatMap((agent) => {
      const own = periods.get(agent.number);
      return own === undefined ? [] : agentOfPeriods(agent, own);
    });
  }

  /** Totals by agent number, for agents that have runs. @param also additional columns */
  async #totals(
    tenant: number,
    agents: readonly KnownAgent[],
    also: string,
    abort: AbortSignal | undefined,
    conditions: readonly string[] = [],
  ): Promise<ReadonlyMap<number, Row>> {
    const isOf = [whereOf(tenant, agents), ...conditions].join(' AND ');
    const rows = await this.#parts.reads.rows(
      `SELECT agent_no, ${COUNTS}, ${COST}, max(started_at) AS last_run_at${also} FROM runs FINAL WHERE ${isOf} GROUP BY agent_no`,
      abort,
    );
    return new Map(rows.map((row) => [Number(row.agent_no), row]));
  }
}

function whereOf(tenant: number, agents: readonly KnownAgent[]): string {
  return `tenant = ${tenant} AND ${AGENTS_RUNS} AND agent_no IN (${agents.map(({ number }) => number).join(', ')})`;
}

/** @param row undefined for an agent without runs */
function summary(agent: KnownAgent, row: Row | undefined): AgentSummary {
  const priced = Number(row?.priced_runs ?? 0);
  const cost = costOf(row);
  return {
    id: agent.id,
    name: agent.name,
    total_runs: Number(row?.total_runs ?? 0),
    success_count: Number(row?.success_count ?? 0),
    failure_count: Number(row?.failure_count ?? 0),
    failed_runs: Number(row?.failed_runs ?? 0),
    finished_runs: Number(row?.finished_runs ?? 0),
    total_cost: cost,
    avg_cost_per_run: cost === null ? null : meanCost(cost, priced),
    last_run_at: numberOf(row?.last_run_at),
    created_at: agent.created_at,
  };
}

/** Null if no run has a cost. */
function costOf(row: Row | undefined): Usd | null {
  const sum = textOf(row?.total_cost);
  return sum === null || Number(row?.priced_runs) === 0 ? null : sumToNumber(BigInt(sum));
}

function dayOf(row: Row): AgentDay {
  return {
    date: formatDay(Number(row.day)),
    total_runs: Number(row.total_runs),
    success_count: Number(row.success_count),
    failure_count: Number(row.failure_count),
    failed_runs: Number(row.failed_runs),
    finished_runs: Number(row.finished_runs),
    total_cost: costOf(row) ?? 0,
    total_tokens: Number(row.tokens ?? 0),
    avg_latency_ms: numberOf(row.avg_latency_ms),
    p95_latency_ms: numberOf(row.p95_latency_ms),
    estimate: estimateOfRow(row),
  };
}
