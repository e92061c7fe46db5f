import type { Convention } from '../conventions/convention.js';

/** Microsoft's Agent Framework: workflows of agents. An unnamed workflow is named by its builder and an id. */
export const AGENT_FRAMEWORK: Convention = {
  spanNames: {
    scope: 'agent_framework',
    kinds: { 'workflow.build': 'agent made', 'workflow.run': 'root span is an agent' },
  },
  fields: { workflow: { 'workflow.name': { rank: 5 }, 'workflow_builder.name': { rank: 6 } } },
  separateCachesOfClaude: ['agent_framework'],
  agentNames: { generic: ['workflow.build', 'workflow.run', 'WorkflowBuilder-*'] },
};
