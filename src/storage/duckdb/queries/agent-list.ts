import type { AgentFilter, AgentSort, AgentSummary } from '../../agents.js';
import { isKnown, type Agent, type Agents } from '../figures/agents.js';
import type { Read } from '../reads/read.js';
import type { RunFigures } from '../figures/run-figures.js';
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

/** What has no value comes last in either direction; agents that are equal are ordered by name. */
function inOrder(sort: AgentSort): (a: AgentSummary, b: AgentSummary) => number {
  const sign = sort.startsWith('-') ? -1 : 1;
  const field = sort.replace('-', '') as AgentField;
  return (a, b) => {
    const [one, other] = [a[field], b[field]];
    if (one === null || other === null) {
      if (one !== other) return one === null ? 1 : -1;
    } else if (one !== other) return sign * compare(one, other);
    return compare(a.name, b.name);
  };
}

type AgentField = AgentSort extends infer Sort ? (Sort extends `-${infer Field}` ? Field : never) : never;

function compare<T extends string | number>(a: T, b: T): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
