import type { AgentFilter, AgentSummary } from '../../contracts/runs.js';
import { inOrder } from '../../shared/agents-in-order.js';
import { isKnown, type Agent, type Agents } from '../stats/agents.js';
import type { Read } from '../segments/read.js';
import type { RunFigures } from '../stats/run-figures.js';
import { summary } from './agent-figures.js';

/** All agents of a user that have runs; the one that ran last comes first. */
export async function listAgents(
  read: Read,
  agents: Agents,
  figures: RunFigures,
  tenant: number,
): Promise<AgentSummary[]> {
  const listed = await withFigures(read, figures, tenant, () => agents.ofTenant(tenant));
  return listed.sort(inOrder('-last_run_at'));
}

/** One page of the agents whose names match, and how many match in all. Only agents of the user are looked at. */
export async function findAgents(
  read: Read,
  agents: Agents,
  figures: RunFigures,
  tenant: number,
  { query = '', sort = '-last_run_at' }: AgentFilter,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<{ items: AgentSummary[]; count: number }> {
  const found = await withFigures(read, figures, tenant, () =>
    query === '' ? agents.ofTenant(tenant) : agents.matching(tenant, query),
  );
  return { items: found.sort(inOrder(sort)).slice(offset, offset + limit), count: found.length };
}

/** @param wanted gives some agents of the user, as they are when it is called */
async function withFigures(
  read: Read,
  figures: RunFigures,
  tenant: number,
  wanted: () => Iterable<Agent>,
): Promise<AgentSummary[]> {
  const ofAgents = (): Agent[] => [...wanted()].filter(({ kind }) => kind === 'agent');
  const numbers = ofAgents().map((agent) => agent.agent_no);
  const starts = await figures.loadNewest(read, { tenant, numbers });
  return ofAgents().flatMap((agent) => {
    const totals = figures.totals(agent.agent_no);
    return isKnown(agent) && totals !== undefined && totals.runs > 0 ? summary(agent, totals, starts) : [];
  });
}
