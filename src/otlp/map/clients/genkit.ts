import type { JsonValue } from '../../../signal/attributes.js';
import type { Convention } from '../conventions/convention.js';
import { kindBy, only } from '../conventions/readers.js';

const KEY = /^\/(?:background-)?(?:model|embedder)\/(.+)$/s;

function modelOfKey(value: JsonValue): string | undefined {
  return typeof value === 'string' ? KEY.exec(value)?.[1] : undefined;
}

/** Models of plugins are named `googleai/gemini-2.5-flash`, flows and tools without a slash. */
function modelOfPlugin(value: JsonValue): string | undefined {
  return typeof value === 'string' && value.includes('/') ? value : undefined;
}

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
    model: { 'genkit:key': { rank: 14, read: modelOfKey }, 'genkit:name': { rank: 25, read: modelOfPlugin } },
    tool_name: { 'genkit:name': { rank: 7 } },
  },
};
