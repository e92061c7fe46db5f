import type { Convention } from '../conventions/convention.js';

/** CrewAI. A crew without a name is called by its id. */
export const CREWAI: Convention = {
  fields: { workflow: { 'crewai.crew.name': { rank: 3 }, crew_name: { rank: 4 } } },
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
