import type { Convention } from '../conventions/convention.js';

/** OpenAI's Agents SDK: the name of a run where nobody gave one. Logfire tells of it in the names of spans, and by what the SDK calls it. */
export const OPENAI_AGENTS: Convention = {
  spanNames: {
    scope: 'logfire.openai_agents',
    kinds: {
      'OpenAI Agents trace: *': 'agent',
      'Agent run: *': 'agent',
      'Function: *': 'tool',
      'Responses API*': 'llm',
      'Chat completion with *': 'llm',
      'Turn * for agent *': 'custom',
      'Task: *': 'custom',
      'Handoff*': 'custom',
      'Guardrail*': 'custom',
    },
  },
  fields: {
    session_id: { group_id: { rank: 29 } },
  },
  toolNames: ['Function: *'],
  agentNames: {
    around: ['OpenAI Agents trace: *', "Agent run: '*'", 'Agent run: *'],
    generic: ['Agent workflow', 'OpenAI Agent', 'Runner', 'Runner.run*', '{*}'],
    wrappers: ['Agent workflow', 'OpenAI Agents trace: *', 'Runner', 'Runner.run*'],
  },
};
