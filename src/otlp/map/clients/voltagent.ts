import type { Convention } from '../conventions/convention.js';

/** VoltAgent: `tool.parameters` is the schema of a tool, its arguments are the input. */
export const VOLTAGENT: Convention = {
  fields: { arguments: { input: { rank: 18 } } },
  agentNames: { around: ['subagent:*'] },
};
