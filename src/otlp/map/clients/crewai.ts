import type { Convention } from '../conventions/convention.js';
import { present } from '../conventions/readers.js';

/** CrewAI. A crew without a name is named by its id. */
export const CREWAI: Convention = {
  fields: {
    // OpenLLMetry reports a task as an invoked agent.
    kind: {
      'crewai.task.id': { rank: 0, read: (value) => (present(value) === undefined ? undefined : 'custom') },
    },
    agent: { 'crewai.task.agent': { rank: 5 } },
    // OpenInference names the span after the agent and its task.
    openinference_agent: { 'graph.node.id': { rank: 2 } },
    workflow: { 'crewai.crew.name': { rank: 3 }, crew_name: { rank: 4 } },
    input: { 'crewai.task.description': { rank: 25 } },
    output: { 'crewai.crew.result': { rank: 25 } },
  },
  toolNames: ['*._use', '*.use'],
  agentNames: {
    around: ['*.kickoff', '*._execute_core', '*.kickoff_async'],
    generic: [
      'Crew',
      'crew_*-*-*-*-*',
      'Crew Created',
      'crewai',
      'crewai.*',
      'Flow',
      'flow_*-*-*-*-*',
      'Task Created',
    ],
  },
};
