import type { Convention } from '../conventions/convention.js';
import { kindBy, seconds } from '../conventions/readers.js';

/** Pipecat: events of live models are spans, and all of them name the model. */
export const PIPECAT: Convention = {
  fields: {
    first_chunk: { 'metrics.ttfb': { rank: 6, read: seconds } },
    kind: {
      'service.operation': {
        rank: 15,
        read: kindBy({
          LLM_SETUP: 'custom',
          LLM_REQUEST: 'custom',
          LLM_RESPONSE: 'llm',
          LLM_TOOL_CALL: 'custom',
          LLM_TOOL_RESULT: 'tool',
        }),
      },
    },
    tool_name: { 'tool.function_name': { rank: 10 } },
    result: { 'tool.result': { rank: 23 } },
    tools: { tools: { rank: 6 }, 'tools.definitions': { rank: 7 } },
  },
};
