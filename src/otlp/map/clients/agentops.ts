import type { Convention } from '../conventions/convention.js';
import { kindBy, only } from '../conventions/readers.js';

/** AgentOps: decorated functions. What a model asks for is a span of kind tool, too, with the kind printed by Python. */
export const AGENTOPS: Convention = {
  fields: {
    kind: {
      'agentops.span.kind': {
        rank: 23,
        read: kindBy({
          SESSION: 'named root',
          WORKFLOW: 'named root',
          AGENT: 'agent',
          TOOL: 'tool',
          LLM: 'llm',
          OPERATION: 'custom',
          TASK: 'custom',
          GUARDRAIL: 'custom',
        }),
      },
    },
    is_step: { 'agentops.span.kind': { rank: 3, read: only('AgentOpsSpanKindValues.TOOL') } },
  },
  toolNames: ['*.tool'],
  agentNames: { around: ['*.session'], services: ['agentops'] },
};
