import { Link } from 'wouter';
import { Missing } from '../../parts/Missing.js';
import type { Rule } from './labels.js';

/** The agent or service of a rule. */
export function Target({
  rule: { agent_id, agent_name, target_service },
}: {
  readonly rule: Pick<Rule, 'agent_id' | 'agent_name' | 'target_service'>;
}) {
  if (agent_id !== null) return <Link href={`/agents/${agent_id}`}>{agent_name ?? agent_id}</Link>;
  return target_service ?? <Missing reason="No target" />;
}
