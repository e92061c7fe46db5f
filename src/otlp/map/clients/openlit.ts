import type { Convention } from '../conventions/convention.js';

/** OpenLIT, for attributes beyond the GenAI conventions. */
export const OPENLIT: Convention = {
  separateCaches: ['openlit.instrumentation.anthropic'],
  // It also sends 0 for every model if it could not fetch its prices.
  zeroCosts: ['openlit*'],
  fields: {
    environment: { 'gen_ai.environment': { rank: 6 } },
    // A hash of the agent's prompts and tools, next to the version that a program may set.
    agent_version: { 'openlit.agent.version_hash': { rank: 9 } },
    status_message: { 'gen_ai.framework.error.message': { rank: 3 } },
    input: { 'gen_ai.workflow.input': { rank: 19 } },
    output: { 'gen_ai.workflow.output': { rank: 20 } },
    arguments: { 'gen_ai.tool.args': { rank: 7 }, 'gen_ai.tool.input': { rank: 8 } },
    result: { 'gen_ai.tool.output': { rank: 6 } },
  },
  agentNames: {
    // Calls of mem0, which it reports as workflows.
    generic: [
      'memory add*',
      'memory create*',
      'memory delete*',
      'memory get*',
      'memory history*',
      'memory reset*',
      'memory search*',
      'memory update*',
    ],
    services: ['default'],
  },
};
