import type { Target } from '../../contracts/alerts.js';
import type { Agents } from '../stats/agents.js';
import type { Services } from '../write/services.js';
import type { Unit } from './unit-rows.js';

/** Returns the number of a metric; undefined if the user has no metric with that name. */
interface MetricNumbers {
  streamNumber(tenant: number, name: string): number | undefined;
}

/** Maps names of targets and metrics to their numbers. */
export interface Known {
  readonly agents: Agents;
  readonly services: Services;
  readonly metrics: MetricNumbers;
}

/** A target, by its number. */
export interface Place {
  readonly unit: Unit;
  readonly no: number;
}

/** The place of a target; undefined if the name is unknown. If an agent and a node share a name, the agent wins. */
export function placeOf({ agents, services }: Known, tenant: number, target: Target): Place | undefined {
  if ('isAllAgents' in target) return { unit: 'tenant', no: tenant };
  const agent =
    'agentId' in target ? agents.byId(tenant, target.agentId) : agents.byName(tenant, target.service);
  if (agent !== undefined) return { unit: 'agent', no: agent.agent_no };
  const node = 'agentId' in target ? undefined : services.find(tenant, target.service);
  // A name beyond the limit of names shares the number of another name.
  if (node === undefined || !('service' in target) || services.name(node) !== target.service)
    return undefined;
  return { unit: 'node', no: node };
}
