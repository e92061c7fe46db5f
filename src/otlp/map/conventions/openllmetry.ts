import type { Convention } from './convention.js';
import { kindBy } from './readers.js';

/** OpenLLMetry (Traceloop), and Laminar, which comes from it. */
export const OPENLLMETRY: Convention = {
  fields: {
    kind: {
      'traceloop.span.kind': {
        rank: 4,
        read: kindBy({ WORKFLOW: 'agent at the root', AGENT: 'agent', TOOL: 'tool', TASK: 'custom' }),
      },
      'lmnr.span.type': {
        rank: 5,
        read: kindBy({ LLM: 'llm', TOOL: 'tool', EVALUATION: 'custom', EVALUATOR: 'custom' }),
      },
      'llm.request.type': {
        rank: 7,
        read: kindBy({ CHAT: 'llm', COMPLETION: 'llm', EMBEDDING: 'llm', RERANK: 'custom' }),
      },
    },
    traceloop_workflow: { 'traceloop.workflow.name': { rank: 1 } },
    session_id: {
      'traceloop.association.properties.session_id': { rank: 3 },
      'lmnr.association.properties.session_id': { rank: 4 },
    },
    user_id: {
      'traceloop.association.properties.user_id': { rank: 2 },
      'lmnr.association.properties.user_id': { rank: 3 },
    },
    tags: { 'lmnr.association.properties.tags': { rank: 2 } },
    traceloop_prompt_name: { 'traceloop.prompt.key': { rank: 1 } },
    traceloop_prompt_version: { 'traceloop.prompt.version': { rank: 1 } },
    input_tokens: { 'llm.usage.prompt_tokens': { rank: 4 } },
    output_tokens: { 'llm.usage.completion_tokens': { rank: 4 } },
    total_tokens: { 'llm.usage.total_tokens': { rank: 2 } },
    input: { 'traceloop.entity.input': { rank: 6 }, 'lmnr.span.input': { rank: 16 } },
    output: { 'traceloop.entity.output': { rank: 6 }, 'lmnr.span.output': { rank: 16 } },
  },
  prefixes: {
    tools: { 'llm.request.functions.': { rank: 4 } },
  },
};
