import type {
  AgentComparison,
  AgentDay,
  AgentFilter,
  AgentSummary,
  ModelFilter,
  ModelUsage,
  RunFilter,
  StoredTrace,
} from '../../telemetry-store.js';
import type { AgentDayCache } from '../figures/agent-day-cache.js';
import type { Agents } from '../figures/agents.js';
import type { IdIndex } from '../ids/id-index.js';
import { agentDays, compareAgents, readAgent } from '../queries/agent-figures.js';
import { findAgents, listAgents } from '../queries/agent-list.js';
import { listModels } from '../queries/models.js';
import { listRuns, readRunsAt, type RunsPart } from '../queries/runs.js';
import { readCommits, readHeader, readSpans, type SpanCursor, type SpanPage } from '../queries/trace.js';
import type { Read } from '../reads/read.js';
import { removedMeanwhile } from '../../removed-meanwhile.js';
import type { RunFigures } from '../figures/run-figures.js';
import { TraceId } from '../rows/trace-id.js';

/** What is known of runs without reading the tables. */
interface Known {
  readonly agents: Agents;
  readonly figures: RunFigures;
  readonly days: AgentDayCache;
  /** Which traces are stored, with the commits of their headers. */
  readonly traces: IdIndex;
}

/** Reads of runs, their agents and their models. Users are tenant numbers here. */
export class RunReads {
  readonly #known: Known;

  constructor(known: Known) {
    this.#known = known;
  }

  /** The header and the first page of spans. */
  async trace(
    read: Read,
    tenant: number,
    traceId: string,
  ): Promise<{ trace: Omit<StoredTrace, 'spans'>; page: SpanPage } | null> {
    const { agents, traces } = this.#known;
    const id = new TraceId(traceId);
    if (traces.find(tenant, id.words, 0) === 0) return null;
    return await read(async (connection, capture) => {
      const seq = traces.find(tenant, id.words, 0);
      const found = await readHeader(connection, capture, agents, tenant, id.text, seq);
      if (found === null) return null;
      const start = { traceId: id.text, after: null };
      return {
        trace: found.trace,
        page: await readSpans(connection, capture, tenant, start, found.spans),
      };
    });
  }

  /**
   * A later page. Its spans may have newer versions by now, in later commits, so their places are looked up again.
   *
   * @throws ConsumeError `storage_unavailable` where the trace was removed meanwhile
   */
  async spans(read: Read, tenant: number, cursor: SpanCursor): Promise<SpanPage> {
    const id = new TraceId(cursor.traceId);
    return await read(async (connection, capture) => {
      const seq = this.#known.traces.find(tenant, id.words, 0);
      const spans = await readCommits(connection, capture, tenant, id.text, seq);
      if (spans === null) throw removedMeanwhile({ what: 'trace', list: 'spans' });
      return await readSpans(connection, capture, tenant, cursor, spans);
    });
  }

  async list(
    read: Read,
    tenant: number,
    filter: RunFilter,
    page: { readonly offset: number; readonly limit: number },
  ): Promise<RunsPart & { readonly count: number }> {
    const { agents, figures } = this.#known;
    return await listRuns(read, agents, figures, tenant, filter, page);
  }

  /** The runs of a list that follow, as they are now. */
  async rest(read: Read, tenant: number, ids: readonly string[]): Promise<RunsPart> {
    const { agents, traces } = this.#known;
    return await read(async (connection, capture) => {
      const wanted = ids.map((id) => {
        const { words, text } = new TraceId(id);
        return { id: text, seq: traces.find(tenant, words, 0) };
      });
      return await readRunsAt(connection, capture, agents, tenant, wanted);
    });
  }

  async agents(read: Read, tenant: number): Promise<readonly AgentSummary[]> {
    const { agents, figures } = this.#known;
    return await listAgents(read, agents, figures, tenant);
  }

  async someAgents(
    read: Read,
    tenant: number,
    filter: AgentFilter,
    page: { readonly offset: number; readonly limit: number },
  ): Promise<{ items: readonly AgentSummary[]; count: number }> {
    const { agents, figures } = this.#known;
    return await findAgents(read, agents, figures, tenant, filter, page);
  }

  /** @returns null for an agent that the tenant does not have */
  async agent(read: Read, tenant: number, agentId: string): Promise<AgentSummary | null> {
    const { agents, figures } = this.#known;
    const agent = agents.byId(tenant, agentId);
    if (agent === undefined) return null;
    return await readAgent(read, figures, agent);
  }

  /** @returns null for an agent that the tenant does not have */
  async agentDays(
    read: Read,
    tenant: number,
    agentId: string,
    range: { readonly from: number; readonly to: number },
  ): Promise<{ name: string; days: readonly AgentDay[] } | null> {
    const agent = this.#known.agents.byId(tenant, agentId);
    if (agent === undefined) return null;
    const days = await this.#known.days.read(agent.agent_no, range, (missing) =>
      read((connection, capture) => agentDays(connection, capture, agent, missing)),
    );
    return { name: agent.name, days };
  }

  /** @returns null where the tenant does not have one of the agents */
  async compare(
    read: Read,
    tenant: number,
    agentIds: readonly string[],
  ): Promise<readonly AgentComparison[] | null> {
    const { agents, figures } = this.#known;
    const compared = agentIds.flatMap((id) => agents.byId(tenant, id) ?? []);
    if (compared.length < agentIds.length) return null;
    return await compareAgents(read, figures, tenant, compared);
  }

  async models(
    read: Read,
    tenant: number,
    filter: ModelFilter,
    page: { readonly offset: number; readonly limit: number },
  ): Promise<{ items: readonly ModelUsage[]; count: number }> {
    const { agents } = this.#known;
    return await read((connection, capture) => listModels(connection, capture, agents, tenant, filter, page));
  }
}
