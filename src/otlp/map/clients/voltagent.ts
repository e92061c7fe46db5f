import type { Convention, Reader } from '../conventions/convention.js';

/** Names of tools in one text: `get_weather,add`. */
const namesOfTools: Reader = (value) =>
  typeof value === 'string' && /^[\w-]+(?:,[\w-]+)*$/.test(value) ? value.split(',') : undefined;

/** VoltAgent: `tool.parameters` is the schema of a tool, its arguments are the input. */
export const VOLTAGENT: Convention = {
  fields: {
    arguments: { input: { rank: 18 } },
    tools: { 'llm.tools': { rank: 0, read: namesOfTools } },
  },
  agentNames: { around: ['subagent:*', 'workflow.*'] },
};
