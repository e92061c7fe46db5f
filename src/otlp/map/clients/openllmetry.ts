import type { Convention, Reader } from '../conventions/convention.js';
import { firstOf, inside, kindBy, objectOf, payload } from '../conventions/readers.js';

/** The input of LangChain's callbacks, under `key` next to the call's arguments. */
function inCallback(key: string): Reader {
  const inner = inside([key], payload);
  return (value) => (objectOf(value)?.kwargs === undefined ? undefined : inner(value));
}

/** OpenLLMetry (Traceloop). */
export const OPENLLMETRY: Convention = {
  chunkEvents: ['llm.content.completion.chunk'],
  fields: {
    kind: {
      'traceloop.span.kind': {
        rank: 5,
        read: kindBy({ WORKFLOW: 'root span is an agent', AGENT: 'agent', TOOL: 'tool', TASK: 'custom' }),
      },
      'llm.request.type': {
        rank: 8,
        read: kindBy({ CHAT: 'llm', COMPLETION: 'llm', EMBEDDING: 'llm', RERANK: 'custom' }),
      },
    },
    workflow: { 'traceloop.workflow.name': { rank: 2 } },
    entity: { 'traceloop.entity.name': { rank: 1 } },
    tool_name: { 'traceloop.entity.name': { rank: 4 } },
    session_id: {
      'traceloop.association.properties.session_id': { rank: 3 },
      'traceloop.association.properties.conversation_id': { rank: 20 },
      'traceloop.association.properties.thread_id': { rank: 21 },
    },
    user_id: { 'traceloop.association.properties.user_id': { rank: 2 } },
    tags: { 'traceloop.association.properties.tags': { rank: 8 } },
    traceloop_prompt_name: { 'traceloop.prompt.key': { rank: 1 } },
    traceloop_prompt_version: { 'traceloop.prompt.version': { rank: 1 } },
    input_tokens: { 'llm.usage.prompt_tokens': { rank: 4 } },
    output_tokens: { 'llm.usage.completion_tokens': { rank: 4 } },
    total_tokens: { 'llm.usage.total_tokens': { rank: 2 } },
    cached_read: { 'llm.usage.cache_read_input_tokens': { rank: 22 } },
    cached_write: { 'llm.usage.cache_creation_input_tokens': { rank: 22 } },
    cached_write_5m: { 'llm.usage.cache_creation.ephemeral_5m_input_tokens': { rank: 22 } },
    cached_write_1h: { 'llm.usage.cache_creation.ephemeral_1h_input_tokens': { rank: 22 } },
    reasoning: { 'llm.usage.reasoning_tokens': { rank: 22 } },
    input: {
      'traceloop.entity.input': { rank: 6, read: firstOf(inCallback('inputs'), payload) },
    },
    output: {
      'traceloop.entity.output': { rank: 6, read: firstOf(inCallback('outputs'), payload) },
    },
  },
  prefixes: {
    tools: { 'llm.request.functions.': { rank: 4 } },
  },
  agentNames: {
    around: ['*.agent', '*.workflow'],
    generic: ['agent workflow'],
  },
};
