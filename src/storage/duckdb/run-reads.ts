import type {
  AgentComparison,
  AgentDay,
  AgentSummary,
  ModelFilter,
  ModelUsage,
  RunFilter,
  RunSummary,
  StoredTrace,
} from '../telemetry-store.js';
import type { AgentDayCache } from './agent-day-cache.js';
import type { Agents } from './agents.js';
import type { IdIndex } from './ids/id-index.js';
import { agentDays, compareAgents, listAgents, readAgent } from './queries/agent-figures.js';
import { listModels } from './queries/models.js';
import { listRuns } from './queries/runs.js';
import { readCommits, readHeader, readSpans, type SpanCursor, type SpanPage } from './queries/trace.js';
import type { Read } from './read.js';
import type { RunFigures } from './run-figures.js';
import { TraceId } from './trace-id.js';

/** What reads of runs know without a look at the tables. */
interface Known {
  readonly agents: Agents;
  readonly figures: RunFigures;
  readonly days: AgentDayCache;
  /** The ids of all traces, with the commits of their headers. */
  readonly traces: IdIndex;
}

/** The reads of runs, their agents and their models. Tenants go by their number. */
export class RunReads {
  readonly #read: Read;
  readonly #known: Known;

  constructor(read: Read, known: Known) {
    this.#read = read;
    this.#known = known;
  }

  /** The header and the first page of spans. */
  async trace(
    tenant: number,
    traceId: string,
  ): Promise<{ trace: Omit<StoredTrace, 'spans'>; page: SpanPage } | null> {
    const { agents, traces } = this.#known;
    const id = new TraceId(traceId);
    if (traces.find(tenant, id.words, 0) === 0) return null;
    return await this.#read(async (connection, capture) => {
      const seqs = [traces.find(tenant, id.words, 0)];
      const found = await readHeader(connection, capture, agents, tenant, id.text, seqs);
      if (found === null) return null;
      const start = { traceId: id.text, after: null };
      return {
        trace: found.trace,
        page: await readSpans(connection, capture, tenant, start, found.commits),
      };
    });
  }

  /** A later page. The spans may have newer versions by now, in later commits: so it looks where they lie again. */
  async spans(tenant: number, cursor: SpanCursor): Promise<SpanPage> {
    const id = new TraceId(cursor.traceId);
    return await this.#read(async (connection, capture) => {
      const seqs = [this.#known.traces.find(tenant, id.words, 0)];
      const commits = await readCommits(connection, capture, tenant, id.text, seqs);
      if (commits === null) return { json: new Uint8Array(0), next: null };
      return await readSpans(connection, capture, tenant, cursor, commits);
    });
  }

  async list(
    tenant: number,
    filter: RunFilter,
    page: { readonly offset: number; readonly limit: number },
  ): Promise<{ items: readonly RunSummary[]; count: number }> {
    const { agents, figures } = this.#known;
    return await this.#read((connection, capture) =>
      listRuns(connection, capture, agents, figures, tenant, filter, page),
    );
  }

  async agents(tenant: number): Promise<readonly AgentSummary[]> {
    const { agents, figures } = this.#known;
    return await listAgents(this.#read, agents, figures, tenant);
  }

  /** @returns null for an agent that the tenant does not have */
  async agent(tenant: number, agentId: string): Promise<AgentSummary | null> {
    const { agents, figures } = this.#known;
    const agent = agents.byId(tenant, agentId);
    if (agent === undefined) return null;
    return await readAgent(this.#read, figures, agent);
  }

  /** @returns null for an agent that the tenant does not have */
  async agentDays(
    tenant: number,
    agentId: string,
    range: { readonly from: number; readonly to: number },
  ): Promise<{ name: string; days: readonly AgentDay[] } | null> {
    const agent = this.#known.agents.byId(tenant, agentId);
    if (agent === undefined) return null;
    const days = await this.#known.days.read(agent.agent_no, range, (missing) =>
      this.#read((connection, capture) => agentDays(connection, capture, agent, missing)),
    );
    return { name: agent.name, days };
  }

  /** @returns null where the tenant does not have one of the agents */
  async compare(tenant: number, agentIds: readonly string[]): Promise<readonly AgentComparison[] | null> {
    const { agents, figures } = this.#known;
    const compared = agentIds.flatMap((id) => agents.byId(tenant, id) ?? []);
    if (compared.length < agentIds.length) return null;
    return await this.#read((connection, capture) => compareAgents(connection, capture, figures, compared));
  }

  async models(
    tenant: number,
    filter: ModelFilter,
    page: { readonly offset: number; readonly limit: number },
  ): Promise<{ items: readonly ModelUsage[]; count: number }> {
    const { agents } = this.#known;
    return await this.#read((connection, capture) =>
      listModels(connection, capture, agents, tenant, filter, page),
    );
  }
}
