import type { JsonValue } from '../../../signal/attributes.js';
import type { Convention, Reader } from '../conventions/convention.js';
import { kindBy, only, present, seconds, texts } from '../conventions/readers.js';
import { inputDetail, outputDetail, usageObject } from '../conventions/usage-readers.js';

const MEMORY = /_memory(?:_store)?$/;
const memoryOperation: Reader = (value) =>
  typeof value === 'string' && MEMORY.test(value) ? value : undefined;

/**
 * OpenTelemetry's GenAI and MCP semantic conventions (v1.41.1) and their older names. Ranks order the sources of all conventions;
 * the lowest counts.
 */
export const GEN_AI: Convention = {
  fields: {
    kind: {
      'gen_ai.operation.name': {
        rank: 2,
        read: kindBy({
          CHAT: 'llm',
          TEXT_COMPLETION: 'llm',
          COMPLETION: 'llm',
          GENERATE_CONTENT: 'llm',
          GENERATE: 'llm',
          GENERATE_LIVE_CONTENT: 'llm',
          REALTIME_INFERENCE: 'llm',
          EMBEDDINGS: 'llm',
          EMBEDDING: 'llm',
          INVOKE_AGENT: 'agent',
          CREATE_AGENT: 'agent made',
          INVOKE_WORKFLOW: 'agent',
          EXECUTE_TOOL: 'tool',
          // A step that names the agent without being one.
          HANDOFF: 'custom',
          AGENT_STEP: 'custom',
          PLAN: 'custom',
          // From OpenTelemetry's own instrumentation of OpenAI's agents, for a turn.
          AGENT_HANDOFF: 'custom',
          UNKNOWN: 'custom',
          // Fetches an earlier response without calling a model.
          FETCH_RESPONSE: 'custom',
          RETRIEVAL: 'retrieval',
          SEARCH_MEMORY: 'memory',
          CREATE_MEMORY: 'memory',
          UPDATE_MEMORY: 'memory',
          UPSERT_MEMORY: 'memory',
          DELETE_MEMORY: 'memory',
          CREATE_MEMORY_STORE: 'memory',
          DELETE_MEMORY_STORE: 'memory',
        }),
      },
    },
    is_tool: {
      'gen_ai.tool.name': { rank: 1, read: present },
      'gen_ai.tool.call.id': { rank: 1, read: present },
      'mcp.method.name': { rank: 2, read: only('tools/call') },
    },
    is_mcp: { 'mcp.method.name': { rank: 1 }, 'mcp.session.id': { rank: 1 } },
    mcp_resource: { 'mcp.resource.uri': { rank: 1 } },
    memory_store: { 'gen_ai.memory.store.name': { rank: 1 }, 'gen_ai.memory.store.id': { rank: 2 } },
    db_operation: { 'gen_ai.operation.name': { rank: 9, read: memoryOperation } },
    db_query: { 'gen_ai.memory.query.text': { rank: 9 } },
    db_rows: { 'gen_ai.memory.record.count': { rank: 9 } },
    mcp_server: { 'mcp.server.name': { rank: 1 }, 'fastmcp.server.name': { rank: 2 } },
    is_model: { 'gen_ai.request.model': { rank: 1 }, 'gen_ai.response.model': { rank: 1 } },
    is_agent: { 'gen_ai.agent.name': { rank: 1 } },
    is_message: { 'mcp.method.name': { rank: 5 } },
    tool_name: { 'gen_ai.tool.name': { rank: 1 } },
    agent: { 'gen_ai.agent.name': { rank: 1 } },
    workflow: { 'gen_ai.workflow.name': { rank: 1 } },
    is_failed: {
      'gen_ai.tool.status': { rank: 1, read: only('error') },
      'gen_ai.response.finish_reasons': { rank: 7, read: isFailure },
    },
    model: { 'gen_ai.response.model': { rank: 1 }, 'gen_ai.request.model': { rank: 3 } },
    asked_model: { 'gen_ai.request.model': { rank: 1 } },
    service_tier: {
      'openai.response.service_tier': { rank: 1 },
      'gen_ai.openai.response.service_tier': { rank: 2 },
      'gen_ai.response.service_tier': { rank: 3 },
      'gen_ai.usage.service_tier': { rank: 4 },
      'anthropic.response.service_tier': { rank: 5 },
      'gen_ai.anthropic.response.service_tier': { rank: 6 },
      'openai.request.service_tier': { rank: 21 },
      'gen_ai.openai.request.service_tier': { rank: 22 },
      'gen_ai.request.service_tier': { rank: 23 },
    },
    is_cache_hit: {
      cache_hit: { rank: 1 },
      'gen_ai.cache_hit': { rank: 2 },
      'gen_ai.cache.hit': { rank: 3 },
      'gen_ai.response.cache_hit': { rank: 4 },
      'llm.cache_hit': { rank: 5 },
      'llm.cache.hit': { rank: 6 },
    },
    provider: { 'gen_ai.provider.name': { rank: 1 }, 'gen_ai.system': { rank: 2 } },
    response_id: { 'gen_ai.response.id': { rank: 1 } },
    // The last ones are names used by programs without a convention.
    session_id: {
      'gen_ai.conversation.id': { rank: 1 },
      session_id: { rank: 30 },
      sessionId: { rank: 31 },
      conversation_id: { rank: 32 },
      thread_id: { rank: 33 },
    },
    user_id: {
      user_id: { rank: 30 },
      userId: { rank: 31 },
      'enduser.id': { rank: 6 },
      'gen_ai.user.id': { rank: 7 },
      'gen_ai.request.user': { rank: 8 },
    },
    agent_version: { 'gen_ai.agent.version': { rank: 1 } },
    gen_ai_prompt_name: { 'gen_ai.prompt.name': { rank: 1 } },
    gen_ai_prompt_version: { 'gen_ai.prompt.version': { rank: 1 } },
    error_type: { 'error.type': { rank: 1 } },
    status_message: { 'error.message': { rank: 2 } },
    input_tokens: { 'gen_ai.usage.input_tokens': { rank: 1 }, 'gen_ai.usage.prompt_tokens': { rank: 2 } },
    output_tokens: {
      'gen_ai.usage.output_tokens': { rank: 1 },
      'gen_ai.usage.completion_tokens': { rank: 2 },
    },
    total_tokens: { 'gen_ai.usage.total_tokens': { rank: 1 } },
    cached_read: {
      'gen_ai.usage.cache_read.input_tokens': { rank: 1 },
      'gen_ai.usage.cache_read_input_tokens': { rank: 2 },
      'gen_ai.usage.details.cache_read_tokens': { rank: 3 },
      'gen_ai.usage.details.cache_read_input_tokens': { rank: 4 },
      'gen_ai.usage.prompt_tokens_details.cache_read': { rank: 14 },
      'gen_ai.usage.cached_input_tokens': { rank: 15 },
      'gen_ai.usage.input_tokens.cached': { rank: 16 },
      'gen_ai.usage.details.cached_tokens': { rank: 17 },
      'gen_ai.usage.details.cached_content_tokens': { rank: 18 },
      'gen_ai.usage.input_token_details': { rank: 19, read: inputDetail('cached_read') },
    },
    cached_write: {
      'gen_ai.usage.cache_creation.input_tokens': { rank: 1 },
      'gen_ai.usage.cache_creation_input_tokens': { rank: 2 },
      'gen_ai.usage.details.cache_creation_tokens': { rank: 3 },
      'gen_ai.usage.details.cache_write_tokens': { rank: 4 },
      'gen_ai.usage.details.cache_creation_input_tokens': { rank: 5 },
      'gen_ai.usage.cache_write.input_tokens': { rank: 9 },
      'gen_ai.usage.cache_write_input_tokens': { rank: 10 },
      'gen_ai.usage.input_tokens.cache_write': { rank: 15 },
      'gen_ai.usage.prompt_tokens_details.cache_write': { rank: 14 },
      'gen_ai.usage.input_token_details': { rank: 19, read: inputDetail('cached_write') },
    },
    cached_write_5m: {
      'gen_ai.usage.cache_creation.ephemeral_5m_input_tokens': { rank: 1 },
      'gen_ai.usage.cache_creation_5m_input_tokens': { rank: 2 },
      'gen_ai.usage.details.ephemeral_5m_input_tokens': { rank: 3 },
      'gen_ai.usage.details.cache_creation.ephemeral_5m_input_tokens': { rank: 4 },
      'gen_ai.usage.cache_creation': { rank: 5, read: usageObject('cached_write_5m') },
      'gen_ai.usage.input_token_details': { rank: 19, read: inputDetail('cached_write_5m') },
    },
    cached_write_1h: {
      'gen_ai.usage.cache_creation.ephemeral_1h_input_tokens': { rank: 1 },
      'gen_ai.usage.cache_creation_1h_input_tokens': { rank: 2 },
      'gen_ai.usage.details.ephemeral_1h_input_tokens': { rank: 3 },
      'gen_ai.usage.details.cache_creation.ephemeral_1h_input_tokens': { rank: 4 },
      'gen_ai.usage.cache_creation': { rank: 5, read: usageObject('cached_write_1h') },
      'gen_ai.usage.input_token_details': { rank: 19, read: inputDetail('cached_write_1h') },
    },
    reasoning: {
      'gen_ai.usage.reasoning.output_tokens': { rank: 1 },
      'gen_ai.usage.reasoning_tokens': { rank: 2 },
      'gen_ai.usage.details.reasoning_tokens': { rank: 3 },
      'gen_ai.usage.completion_tokens_details.reasoning': { rank: 14 },
      'gen_ai.usage.output_tokens.reasoning': { rank: 16 },
      'gen_ai.usage.details.thoughts_tokens': { rank: 17 },
      'gen_ai.usage.output_token_details': { rank: 19, read: outputDetail('reasoning') },
    },
    audio_input: {
      'gen_ai.usage.audio.input_tokens': { rank: 0 },
      'gen_ai.usage.input_audio_tokens': { rank: 1 },
      'gen_ai.usage.details.input_audio_tokens': { rank: 2 },
      'gen_ai.usage.prompt_tokens_details.audio': { rank: 3 },
      'gen_ai.usage.details.audio_prompt_tokens': { rank: 4 },
      'gen_ai.usage.input_token_details': { rank: 5, read: inputDetail('audio_input') },
    },
    audio_output: {
      'gen_ai.usage.audio.output_tokens': { rank: 0 },
      'gen_ai.usage.output_audio_tokens': { rank: 1 },
      'gen_ai.usage.details.output_audio_tokens': { rank: 2 },
      'gen_ai.usage.completion_tokens_details.audio': { rank: 3 },
      'gen_ai.usage.details.audio_candidates_tokens': { rank: 4 },
      'gen_ai.usage.output_token_details': { rank: 5, read: outputDetail('audio_output') },
      // OpenAI's `completion_tokens_details`, as sent by Pydantic AI.
      'gen_ai.usage.details.audio_tokens': { rank: 7 },
    },
    cost: {
      'gen_ai.usage.cost': { rank: 1 },
      'gen_ai.usage.total_cost': { rank: 2 },
      'gen_ai.cost.total_tokens': { rank: 4 },
      'gen_ai.cost.total_cost': { rank: 7 },
      'gen_ai.usage.cost_usd': { rank: 8 },
      'gen_ai.cost.usd': { rank: 9 },
      'gen_ai.cost': { rank: 10 },
    },
    cost_input: { 'gen_ai.usage.input_cost': { rank: 1 }, 'gen_ai.cost.input_cost': { rank: 2 } },
    cost_output: { 'gen_ai.usage.output_cost': { rank: 1 }, 'gen_ai.cost.output_cost': { rank: 2 } },
    cost_cached_read: { 'gen_ai.cost.cache_read_cost': { rank: 1 } },
    cost_cached_write: { 'gen_ai.cost.cache_creation_cost': { rank: 1 } },
    input: {
      'gen_ai.input.messages': { rank: 1, shape: 'messages' },
      'gen_ai.prompt': { rank: 8 },
      'gen_ai.retrieval.query.text': { rank: 17, shape: 'query' },
      // Used by programs without a convention.
      input: { rank: 60 },
    },
    output: {
      'gen_ai.output.messages': { rank: 1, shape: 'messages' },
      'gen_ai.completion': { rank: 8 },
      'gen_ai.retrieval.documents': { rank: 17, shape: 'documents' },
      'gen_ai.memory.records': { rank: 101 },
      output: { rank: 60 },
    },
    arguments: { 'gen_ai.tool.call.arguments': { rank: 1 } },
    result: { 'gen_ai.tool.call.result': { rank: 1 } },
    system: { 'gen_ai.system_instructions': { rank: 1 } },
    tools: { 'gen_ai.tool.definitions': { rank: 1 } },
    finish_reasons: { 'gen_ai.response.finish_reasons': { rank: 1 } },
    first_chunk: { 'gen_ai.response.time_to_first_chunk': { rank: 1, read: seconds } },
    // From OpenLIT in seconds, from Strands in milliseconds.
    first_token: { 'gen_ai.server.time_to_first_token': { rank: 1 } },
  },
  prefixes: {
    input: { 'gen_ai.prompt.': { rank: 3, shape: 'messages' } },
    output: { 'gen_ai.completion.': { rank: 3, shape: 'messages' } },
    parameters: { 'gen_ai.request.': { rank: 2 }, 'gen_ai.prompt.variable.': { rank: 101 } },
  },
  toolNames: ['execute_tool *'],
  agentNames: {
    around: ['invoke_agent *', 'create_agent *', 'invoke_workflow *'],
    generic: ['invoke_agent', 'create_agent', 'invoke_workflow'],
    // OpenTelemetry's own, the Collector's, and Python's names of programs without a script.
    services: [
      'unknown_service*',
      'OTLPResourceNoServiceName',
      '-c',
      '-m',
      '-',
      '<stdin>',
      'ipykernel_launcher.py',
    ],
  },
  // FastMCP and the Python SDK of MCP report each call as client, transport and server.
  stepScopes: ['fastmcp', 'mcp-python-sdk'],
};

/** A call whose choices all ended with an error. */
function isFailure(value: JsonValue): JsonValue | undefined {
  const reasons = texts(value);
  return Array.isArray(reasons) && reasons.every((reason) => reason === 'error') ? true : undefined;
}

/** The rank of messages that come as span events, among the sources of `input` and `output`. */
export const EVENT_RANK = 2;
