import type { Convention } from '../conventions/convention.js';
import { kindBy, only } from '../conventions/readers.js';

/** Genkit for JavaScript, Go and Python. A flow is an agent; the name of an action is that of its model or tool. */
export const GENKIT: Convention = {
  fields: {
    kind: {
      'genkit:metadata:subtype': {
        rank: 12,
        read: kindBy({
          MODEL: 'llm',
          'BACKGROUND-MODEL': 'llm',
          EMBEDDER: 'llm',
          TOOL: 'tool',
          'TOOL.V2': 'tool',
          FLOW: 'agent',
          AGENT: 'agent',
          RETRIEVER: 'retrieval',
          INDEXER: 'custom',
          RERANKER: 'custom',
          EVALUATOR: 'custom',
          PROMPT: 'custom',
          'EXECUTABLE-PROMPT': 'custom',
          UTIL: 'custom',
        }),
      },
      'genkit:type': {
        rank: 13,
        read: kindBy({ FLOW: 'agent', FLOWSTEP: 'custom', UTIL: 'custom', USERENGAGEMENT: 'custom' }),
      },
    },
    is_failed: { 'genkit:state': { rank: 5, read: only('error') } },
    model: { 'genkit:name': { rank: 14 } },
    tool_name: { 'genkit:name': { rank: 7 } },
  },
};
