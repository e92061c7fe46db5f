import type { Target } from '../../contracts/alerts.js';
import type { Agents } from '../stats/agents.js';
import type { Services } from '../write/services.js';
import type { Unit } from './unit-rows.js';

/** Gives the number of a metric; undefined where the user has none of that name. */
interface MetricNumbers {
  streamNumber(tenant: number, name: string): number | undefined;
}

/** What knows the numbers of targets and metrics. */
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

/**
 * Where an agent and a node have the same name, the agent's runs are meant. Undefined where nothing of that name is known
 * (yet).
 */
export function placeOf({ agents, services }: Known, tenant: number, target: Target): Place | undefined {
  const agent =
    'agentId' in target ? agents.byId(tenant, target.agentId) : agents.byName(tenant, target.service);
  if (agent !== undefined) return { unit: 'agent', no: agent.agent_no };
  const node = 'agentId' in target ? undefined : services.find(tenant, target.service);
  // A name without a number of its own is counted under another name.
  if (node === undefined || !('service' in target) || services.name(node) !== target.service)
    return undefined;
  return { unit: 'node', no: node };
}
