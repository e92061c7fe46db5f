import type {
  AgentComparison,
  AgentDay,
  AgentDays,
  AgentFilter,
  Agents as AgentsContract,
  AgentSummary,
  EstimatedRuns,
  TimeRange,
} from '../../contracts/agents.js';
import type { Page, PageRange } from '../../contracts/paging.js';
import type { Agents } from '../stats/agents.js';
import type { RunCells } from '../stats/run-cells.js';
import type { RunFigures } from '../stats/run-figures.js';
import type { Asker, Served } from '../segments/asker.js';
import { agentDays, compareAgents, readAgent } from './agent-figures.js';
import { estimateRuns } from './estimates.js';
import { findAgents, listAgents } from './agent-list.js';

/** What is known of agents without reading the tables. */
interface Known {
  readonly agents: Agents;
  readonly figures: RunFigures;
  readonly days: RunCells<AgentDay>;
}

/** The contract `Agents` in the store thread. */
export class AgentReads implements Served<AgentsContract> {
  readonly #known: Known;

  constructor(known: Known) {
    this.#known = known;
  }

  async list({ tenant, short }: Asker): Promise<readonly AgentSummary[]> {
    const { agents, figures } = this.#known;
    return await listAgents(short, agents, figures, tenant);
  }

  async find({ tenant, short }: Asker, filter: AgentFilter, page: PageRange): Promise<Page<AgentSummary>> {
    const { agents, figures } = this.#known;
    return await findAgents(short, agents, figures, tenant, filter, page);
  }

  async read({ tenant, short }: Asker, agentId: string): Promise<AgentSummary | null> {
    const agent = this.#known.agents.byId(tenant, agentId);
    return agent === undefined ? null : await readAgent(short, this.#known.figures, agent);
  }

  async days({ tenant, short }: Asker, agentId: string, range: TimeRange): Promise<AgentDays | null> {
    const agent = this.#known.agents.byId(tenant, agentId);
    if (agent === undefined) return null;
    const days = await short((connection, capture) =>
      this.#known.days.read(tenant, capture.lastSeq, (kept) =>
        agentDays({ connection, capture, kept }, agent, range),
      ),
    );
    return { name: agent.name, days };
  }

  async estimate({ tenant, long }: Asker, agentId: string): Promise<EstimatedRuns | null> {
    const agent = this.#known.agents.byId(tenant, agentId);
    if (agent === undefined) return null;
    return await long((connection, capture) => estimateRuns(connection, capture, agent));
  }

  async compare(
    { tenant, short }: Asker,
    agentIds: readonly string[],
  ): Promise<readonly AgentComparison[] | null> {
    const { agents, figures } = this.#known;
    const compared = agentIds.flatMap((id) => agents.byId(tenant, id) ?? []);
    return compared.length < agentIds.length ? null : await compareAgents(short, figures, tenant, compared);
  }
}
