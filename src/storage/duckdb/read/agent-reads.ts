import type {
  AgentComparison,
  AgentDay,
  AgentDays,
  AgentFilter,
  Agents as AgentsContract,
  AgentSummary,
  EstimatedRuns,
  TimeRange,
} from '../../contracts/runs.js';
import type { Page, PageRange } from '../../contracts/paging.js';
import { isKnown, type Agent, type Agents } from '../stats/agents.js';
import type { RunCells } from '../stats/run-cells.js';
import { inOrder } from '../../shared/agents-in-order.js';
import { agentOfPeriods } from '../../shared/run-groups.js';
import type { Read } from '../segments/read.js';
import type { RunStats } from '../stats/run-stats.js';
import type { ReadContext, Served } from '../segments/read-context.js';
import { agentDays, agentsWithRuns, compareAgents, readAgent, summary } from './agent-stats.js';
import { dimensionsOf } from './run-conditions.js';
import { estimateRuns } from './estimates.js';
import { periodsOfAgents } from './run-groups.js';

/** The parts of agents that are kept in memory. */
interface Known {
  readonly agents: Agents;
  readonly stats: RunStats;
  readonly days: RunCells<AgentDay>;
}

/** The contract `Agents` in the store thread. */
export class AgentReads implements Served<AgentsContract> {
  readonly #known: Known;

  constructor(known: Known) {
    this.#known = known;
  }

  async list({ tenant, short }: ReadContext): Promise<readonly AgentSummary[]> {
    const listed = await this.#withStats(short, tenant, () => this.#known.agents.ofTenant(tenant));
    return listed.sort(inOrder('-last_run_at'));
  }

  /** Only agents of the user are searched. */
  async find(
    { tenant, short, long }: ReadContext,
    { query = '', sort = '-last_run_at', period, ...versions }: AgentFilter,
    { offset, limit }: PageRange,
  ): Promise<Page<AgentSummary>> {
    const { agents } = this.#known;
    const matching = (): Iterable<Agent> =>
      query === '' ? agents.ofTenant(tenant) : agents.matching(tenant, query);
    const ofVersions = dimensionsOf(versions);
    const found =
      period !== undefined
        ? await long(async (connection, capture) => {
            const place = { connection, capture, agents, tenant };
            const periods = await periodsOfAgents(place, { ...versions, ...period });
            return [...matching()].filter(isKnown).flatMap((agent) => {
              const own = periods.get(agent.agent_no);
              return own === undefined ? [] : agentOfPeriods(agent, own);
            });
          })
        : ofVersions.length === 0
          ? await this.#withStats(short, tenant, matching)
          : await long((connection, capture) =>
              agentsWithRuns(connection, capture, [...matching()].filter(isKnown), ofVersions),
            );
    return { items: found.sort(inOrder(sort)).slice(offset, offset + limit), count: found.length };
  }

  async read({ tenant, short }: ReadContext, agentId: string): Promise<AgentSummary | null> {
    const agent = this.#known.agents.byId(tenant, agentId);
    return agent === undefined ? null : await readAgent(short, this.#known.stats, agent);
  }

  async days({ tenant, short }: ReadContext, agentId: string, range: TimeRange): Promise<AgentDays | null> {
    const agent = this.#known.agents.byId(tenant, agentId);
    if (agent === undefined) return null;
    const days = await short((connection, capture) =>
      this.#known.days.read(tenant, capture.lastSeq, (kept) =>
        agentDays({ connection, capture, kept }, agent, range),
      ),
    );
    return { name: agent.name, days };
  }

  async estimate({ tenant, long }: ReadContext, agentId: string): Promise<EstimatedRuns | null> {
    const agent = this.#known.agents.byId(tenant, agentId);
    if (agent === undefined) return null;
    return await long((connection, capture) => estimateRuns(connection, capture, agent));
  }

  async compare(
    { tenant, short }: ReadContext,
    agentIds: readonly string[],
  ): Promise<readonly AgentComparison[] | null> {
    const { agents, stats } = this.#known;
    const compared = agentIds.flatMap((id) => agents.byId(tenant, id) ?? []);
    return compared.length < agentIds.length ? null : await compareAgents(short, stats, tenant, compared);
  }
  /** Summaries of the agents that have runs. @param wanted returns the current agents of the user at each call */
  async #withStats(read: Read, tenant: number, wanted: () => Iterable<Agent>): Promise<AgentSummary[]> {
    const { stats } = this.#known;
    const ofAgents = (): Agent[] => [...wanted()].filter(({ kind }) => kind === 'agent');
    const numbers = ofAgents().map((agent) => agent.agent_no);
    const starts = await stats.loadNewest(read, { tenant, numbers });
    return ofAgents().flatMap((agent) => {
      const totals = stats.totals(agent.agent_no);
      return isKnown(agent) && totals !== undefined && totals.runs > 0 ? summary(agent, totals, starts) : [];
    });
  }
}
