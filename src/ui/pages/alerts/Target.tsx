import { Link } from 'wouter';
import { Missing } from '../../parts/Missing.js';
import type { Rule } from './labels.js';

/** The agents or the service of a rule. */
export function Target({
  rule: { agent_id, agent_name, all_agents, target_service },
}: {
  readonly rule: Pick<Rule, 'agent_id' | 'agent_name' | 'all_agents' | 'target_service'>;
}) {
  if (all_agents) return 'All agents';
  if (agent_id !== null)
    return (
      <Link href={`/agents/${agent_id}`} title={agent_name ?? agent_id}>
        {agent_name ?? agent_id}
      </Link>
    );
  return target_service === null ? (
    <Missing reason="No target" />
  ) : (
    <span title={target_service}>{target_service}</span>
  );
}
