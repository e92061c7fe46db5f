import type { Convention } from '../conventions/convention.js';
import { identity, inside, kindBy, only, text, toolArguments } from '../conventions/readers.js';

/** OpenInference (Arize): semantic conventions of 2026-08-21. */
export const OPENINFERENCE: Convention = {
  chunkEvents: ['First Token Stream Event'],
  fields: {
    kind: {
      'openinference.span.kind': {
        rank: 1,
        read: kindBy({
          LLM: 'llm',
          EMBEDDING: 'llm',
          AGENT: 'agent',
          TOOL: 'tool',
          RETRIEVER: 'retrieval',
          CHAIN: 'chain',
          RERANKER: 'custom',
          GUARDRAIL: 'custom',
          EVALUATOR: 'custom',
          PROMPT: 'custom',
        }),
      },
    },
    is_model: { 'llm.model_name': { rank: 1 } },
    openinference_agent: { 'agent.name': { rank: 1 } },
    tool_name: { 'tool.name': { rank: 2 } },
    is_failed: { 'tool.status': { rank: 2, read: only('error') } },
    model: {
      'llm.response.model_name': { rank: 2 },
      'llm.model_name': { rank: 4 },
      'embedding.model_name': { rank: 5 },
      'llm.request.model_name': { rank: 7 },
      'llm.invocation_parameters': { rank: 9, read: inside(['model', 'model_name', 'model_id'], text) },
    },
    asked_model: { 'llm.request.model_name': { rank: 2 } },
    service_tier: {
      'llm.response.service_tier': { rank: 11 },
      'llm.invocation_parameters': { rank: 31, read: inside(['service_tier'], text) },
    },
    provider: { 'llm.provider': { rank: 3 }, 'llm.system': { rank: 4 } },
    session_id: { 'session.id': { rank: 2 } },
    user_id: {
      'user.id': { rank: 1 },
      'llm.user': { rank: 9 },
      'llm.invocation_parameters': { rank: 19, read: inside(['user', 'safety_identifier'], identity) },
    },
    tags: { 'tag.tags': { rank: 1 } },
    gen_ai_prompt_version: { 'llm.prompt_template.version': { rank: 2 } },
    input_tokens: { 'llm.token_count.prompt': { rank: 3 } },
    output_tokens: { 'llm.token_count.completion': { rank: 3 } },
    total_tokens: { 'llm.token_count.total': { rank: 3 } },
    cached_read: {
      'llm.token_count.prompt_details.cache_read': { rank: 6 },
      'llm.token_count.prompt_details.cache_input': { rank: 20 },
    },
    cached_write: { 'llm.token_count.prompt_details.cache_write': { rank: 6 } },
    cached_write_5m: {
      'llm.token_count.prompt_details.cache_write_5m': { rank: 6 },
      'llm.token_count.prompt_details.ephemeral_5m_input_tokens': { rank: 7 },
    },
    cached_write_1h: {
      'llm.token_count.prompt_details.cache_write_1h': { rank: 6 },
      'llm.token_count.prompt_details.ephemeral_1h_input_tokens': { rank: 7 },
    },
    reasoning: { 'llm.token_count.completion_details.reasoning': { rank: 6 } },
    audio_input: { 'llm.token_count.prompt_details.audio': { rank: 6 } },
    audio_output: { 'llm.token_count.completion_details.audio': { rank: 6 } },
    cost: { 'llm.cost.total': { rank: 3 } },
    cost_input: { 'llm.cost.prompt': { rank: 3 } },
    cost_output: { 'llm.cost.completion': { rank: 3 } },
    cost_cached_read: {
      'llm.cost.prompt_details.cache_read': { rank: 3 },
      'llm.cost.prompt_details.cache_input': { rank: 5 },
    },
    cost_cached_write: { 'llm.cost.prompt_details.cache_write': { rank: 3 } },
    cost_audio_input: { 'llm.cost.prompt_details.audio': { rank: 3 } },
    cost_audio_output: { 'llm.cost.completion_details.audio': { rank: 3 } },
    input: { 'input.value': { rank: 7 } },
    output: { 'output.value': { rank: 7 } },
    // `tool.parameters` mostly holds the schema of the tool, but sometimes the arguments of the call.
    arguments: { 'input.value': { rank: 6 }, 'tool.parameters': { rank: 20, read: toolArguments } },
    tools: { 'llm.tools': { rank: 3 } },
    parameters: { 'llm.invocation_parameters': { rank: 1 } },
    finish_reasons: { 'llm.finish_reason': { rank: 2 } },
  },
  prefixes: {
    input: {
      'llm.input_messages.': { rank: 4, shape: 'messages' },
      'embedding.embeddings.': { rank: 18, shape: 'embeddings' },
    },
    output: {
      'llm.output_messages.': { rank: 4, shape: 'messages' },
      'retrieval.documents.': { rank: 18, shape: 'documents' },
      'reranker.output_documents.': { rank: 19, shape: 'documents' },
    },
    tools: { 'llm.tools.': { rank: 2 } },
  },
  agentNames: {
    around: ['agent_run [*]', '*.run', '*.arun'],
    generic: [
      'run',
      'main',
      'root',
      'trace',
      'span',
      'task',
      'agent',
      'agents',
      'chain',
      'pipeline',
      'workflow',
    ],
  },
};
