import type { Convention } from '../conventions/convention.js';

/** OpenAI's Agents SDK, with its default name of a run. Logfire sends it in span names. */
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
  // OpenTelemetry's own instrumentation reports a trace like an agent.
  wrapperScopes: ['opentelemetry.instrumentation.openai_agents'],
  toolNames: ['Function: *'],
  agentNames: {
    around: ['OpenAI Agents trace: *', "Agent run: '*'", 'Agent run: *'],
    generic: ['Agent workflow', 'OpenAI Agent', 'Runner', 'Runner.run*', '{*}'],
    wrappers: ['Agent workflow', 'OpenAI Agents trace: *', 'Runner', 'Runner.run*'],
  },
};
