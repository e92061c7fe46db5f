import t from 'tap';
import { FIELDS } from '../../../src/otlp/map/conventions/convention.js';
import { CONVENTIONS } from '../../../src/otlp/map/clients/index.js';
import type { JsonObject, JsonValue } from '../../../src/signal/attributes.js';
import { callKey, readCallKey } from '../../../src/signal/call-key.js';
import type { SpanRecord } from '../../../src/signal/span.js';
import type { Span, SpanEvent } from '../../../src/otlp/wire/requests.js';
import { mapSpan } from '../../support/mapped-span.js';
import { START } from '../../support/otlp-requests.js';

const LLM = { 'openinference.span.kind': 'LLM' };

/** The stored part of a response id. */
function hashOf(response: string): string {
  return readCallKey(callKey({ scope: '', model: null, provider: null, response })).response;
}

/**
 * The sources of a field in order of precedence, each with its own value. A span with all of them uses the first; without the first it
 * uses the second, and so on.
 */
const CHAINS: Readonly<
  Record<
    string,
    readonly [
      show: (span: SpanRecord) => JsonValue | undefined,
      readonly (readonly [string, JsonValue, JsonValue?])[],
    ]
  >
> = {
  model: [
    ({ model }) => model,
    [
      ['gen_ai.response.model', 'a'],
      ['llm.response.model_name', 'b'],
      ['gen_ai.request.model', 'c'],
      ['llm.model_name', 'd'],
      ['embedding.model_name', 'e'],
      ['ai.model.id', 'f'],
      ['llm.request.model_name', 'g'],
      ['langfuse.observation.model.name', 'h'],
      ['llm.invocation_parameters', '{"model": "i"}', 'i'],
      ['metadata', '{"ls_model_name": "j"}', 'j'],
      ['langsmith.metadata.ls_model_name', 'k'],
      ['traceloop.association.properties.ls_model_name', 'l'],
      ['litellm.provider.model', 'm'],
      ['genkit:key', '/model/n', 'n'],
      ['braintrust.metadata', '{"model": "o"}', 'o'],
      ['mlflow.llm.model', '"p"', 'p'],
      ['model', '"q"', 'q'],
      ['LLMChatEndEvent.response.raw.model', 'r'],
      ['LLMCompletionEndEvent.response.raw.model', 's'],
      ['LLMChatStartEvent.model_dict.model_name', 't'],
      ['LLMChatStartEvent.model_dict.model', 'u'],
      ['LLMCompletionStartEvent.model_dict.model_name', 'v'],
      ['LLMCompletionStartEvent.model_dict.model', 'w'],
      ['EmbeddingStartEvent.model_dict.model_name', 'x'],
      ['genkit:name', 'googleai/y', 'googleai/y'],
      ['any.client.model', 'z'],
    ],
  ],
  input_tokens: [
    ({ input_tokens }) => input_tokens,
    [
      ['gen_ai.usage.input_tokens', 1],
      ['gen_ai.usage.prompt_tokens', 2],
      ['llm.token_count.prompt', 3],
      ['llm.usage.prompt_tokens', 4],
      ['ai.usage.promptTokens', 5],
      ['ai.usage.inputTokens', 6],
      ['ai.usage.tokens', 7],
      ['langfuse.observation.usage_details', '{"input": 8, "output": 80}', 8],
      ['mlflow.chat.tokenUsage', '{"input_tokens": 9}', 9],
      ['langsmith.metadata.usage_metadata', '{"input_tokens": 10}', 10],
      ['langsmith.usage_metadata', '{"input_tokens": 11}', 11],
      ['braintrust.metrics', '{"prompt_tokens": 12}', 12],
      ['any.client.usage.prompt_tokens', 13],
    ],
  ],
  output_tokens: [
    ({ output_tokens }) => output_tokens,
    [
      ['gen_ai.usage.output_tokens', 1],
      ['gen_ai.usage.completion_tokens', 2],
      ['llm.token_count.completion', 3],
      ['llm.usage.completion_tokens', 4],
      ['ai.usage.completionTokens', 5],
      ['ai.usage.outputTokens', 6],
      ['langfuse.observation.usage_details', '{"input": 8, "output": 80}', 80],
      ['mlflow.chat.tokenUsage', '{"output_tokens": 9}', 9],
      ['langsmith.metadata.usage_metadata', '{"output_tokens": 10}', 10],
      ['langsmith.usage_metadata', '{"output_tokens": 11}', 11],
      ['braintrust.metrics', '{"completion_tokens": 12}', 12],
      ['any.client.usage.completion_tokens', 13],
    ],
  ],
  total_tokens: [
    ({ total_tokens }) => total_tokens,
    [
      ['gen_ai.usage.total_tokens', 1],
      ['llm.usage.total_tokens', 2],
      ['llm.token_count.total', 3],
      ['ai.usage.totalTokens', 4],
      ['langfuse.observation.usage_details', '{"total": 88}', 88],
      ['mlflow.chat.tokenUsage', '{"total_tokens": 9}', 9],
      ['langsmith.metadata.usage_metadata', '{"total_tokens": 10}', 10],
      ['langsmith.usage_metadata', '{"total_tokens": 11}', 11],
      ['braintrust.metrics', '{"tokens": 12}', 12],
      ['any.client.usage.total_tokens', 13],
    ],
  ],
  cost_usd: [
    ({ cost_usd }) => cost_usd,
    [
      ['gen_ai.usage.cost', 0.000_001, 1000],
      ['gen_ai.usage.total_cost', '0.000002', 2000],
      ['llm.cost.total', 0.000_003, 3000],
      ['gen_ai.cost.total_tokens', 0.000_004, 4000],
      ['langfuse.observation.cost_details', '{"input": 1, "total": 0.000005}', 5000],
      ['operation.cost', 0.000_006, 6000],
      ['gen_ai.cost.total_cost', 4.02e-5, 40_200],
      ['gen_ai.usage.cost_usd', 0.000_008, 8000],
      ['gen_ai.cost.usd', 0.000_009, 9000],
      ['gen_ai.cost', 0.000_01, 10_000],
      ['mlflow.llm.cost', '{"total_cost": 0.000011}', 11_000],
      ['ai.response.providerMetadata', '{"openai": {}, "gateway": {"cost": "0.000012"}}', 12_000],
      ['metadata.response_cost', 0.000_013, 13_000],
      ['litellm.response_cost', 2e-8, 20],
      ['langsmith.metadata.usage_metadata', '{"total_cost": 3e-8}', 30],
      ['braintrust.metrics', '{"estimated_cost": 4e-8}', 40],
    ],
  ],
  'usage.cached_read': [
    ({ call }) => call?.usage?.cached_read,
    [
      ['gen_ai.usage.cache_read.input_tokens', 1],
      ['gen_ai.usage.cache_read_input_tokens', 2],
      ['gen_ai.usage.details.cache_read_tokens', 3],
      ['gen_ai.usage.details.cache_read_input_tokens', 4],
      ['llm.token_count.prompt_details.cache_read', 5],
      ['ai.usage.cachedInputTokens', 6],
      ['langfuse.observation.usage_details', '{"prompt_tokens_details": {"cached_tokens": 7}}', 7],
      ['ai.usage.inputTokenDetails.cacheReadTokens', 8],
      ['ai.response.providerMetadata', '{"openai": {"cachedPromptTokens": 9}}', 9],
      ['gcp.vertex.agent.llm_response', '{"usage_metadata": {"cached_content_token_count": 10}}', 10],
      ['gen_ai.usage.prompt_tokens_details.cache_read', 11],
      ['gen_ai.usage.cached_input_tokens', 12],
      ['gen_ai.usage.input_tokens.cached', 13],
      ['gen_ai.usage.details.cached_tokens', 14],
      ['gen_ai.usage.details.cached_content_tokens', 15],
      ['gen_ai.usage.input_token_details', '{"cache_read": 16}', 16],
      ['llm.token_count.prompt_details.cache_input', 17],
      ['llm.usage.cache_read_input_tokens', 18],
      ['metadata.usage_object', "{'prompt_tokens_details': {'cached_tokens': 19}}", 19],
      ['mlflow.chat.tokenUsage', '{"cache_read_input_tokens": 20}', 20],
      ['gen_ai.usage.raw', '{"input_tokens_details": {"cached_tokens": 21}}', 21],
      ['langsmith.metadata.usage_metadata', '{"input_token_details": {"cache_read": 22}}', 22],
      ['langsmith.usage_metadata', '{"input_token_details": {"cache_read": 23}}', 23],
      ['braintrust.metrics', '{"prompt_cached_tokens": 24}', 24],
      ['any.client.usage.prompt_cached_tokens', 25],
    ],
  ],
  'usage.cached_write': [
    ({ call }) => call?.usage?.cached_write,
    [
      ['gen_ai.usage.cache_creation.input_tokens', 1],
      ['gen_ai.usage.cache_creation_input_tokens', 2],
      ['gen_ai.usage.details.cache_creation_tokens', 3],
      ['gen_ai.usage.details.cache_write_tokens', 4],
      ['gen_ai.usage.details.cache_creation_input_tokens', 5],
      ['llm.token_count.prompt_details.cache_write', 6],
      ['langfuse.observation.usage_details', '{"cache_creation_input_tokens": 7}', 7],
      ['gen_ai.usage.cache_write.input_tokens', 8],
      ['gen_ai.usage.cache_write_input_tokens', 9],
      ['ai.usage.inputTokenDetails.cacheWriteTokens', 10],
      ['ai.response.providerMetadata', '{"anthropic": {"cacheCreationInputTokens": 11}}', 11],
      ['gen_ai.usage.prompt_tokens_details.cache_write', 12],
      ['gen_ai.usage.input_tokens.cache_write', 13],
      ['gen_ai.usage.input_token_details', '{"cache_creation": 14}', 14],
      ['llm.usage.cache_creation_input_tokens', 15],
      ['metadata.usage_object', "{'cache_creation_input_tokens': 16}", 16],
      ['mlflow.chat.tokenUsage', '{"cache_creation_input_tokens": 17}', 17],
      ['gen_ai.usage.raw', '{"cache_creation_input_tokens": 18}', 18],
      ['langsmith.metadata.usage_metadata', '{"input_token_details": {"cache_creation": 19}}', 19],
      ['langsmith.usage_metadata', '{"input_token_details": {"cache_creation": 20}}', 20],
      ['braintrust.metrics', '{"prompt_cache_creation_tokens": 21}', 21],
      ['any.client.usage.prompt_cache_creation_tokens', 22],
    ],
  ],
  'usage.reasoning': [
    ({ call }) => call?.usage?.reasoning,
    [
      ['gen_ai.usage.reasoning.output_tokens', 1],
      ['gen_ai.usage.reasoning_tokens', 2],
      ['gen_ai.usage.details.reasoning_tokens', 3],
      ['llm.token_count.completion_details.reasoning', 4],
      ['ai.usage.reasoningTokens', 5],
      ['langfuse.observation.usage_details', '{"completion_tokens_details": {"reasoning_tokens": 6}}', 6],
      ['ai.usage.outputTokenDetails.reasoningTokens', 7],
      ['ai.response.providerMetadata', '{"google": {"usageMetadata": {"thoughtsTokenCount": 8}}}', 8],
      ['gcp.vertex.agent.llm_response', '{"usage_metadata": {"thoughts_token_count": 9}}', 9],
      ['gen_ai.usage.completion_tokens_details.reasoning', 10],
      ['gen_ai.usage.output_tokens.reasoning', 11],
      ['gen_ai.usage.details.thoughts_tokens', 12],
      ['gen_ai.usage.output_token_details', '{"reasoning": 13}', 13],
      ['llm.usage.reasoning_tokens', 14],
      ['metadata.usage_object', "{'completion_tokens_details': {'reasoning_tokens': 15}}", 15],
      ['mlflow.chat.tokenUsage', '{"reasoning_tokens": 16}', 16],
      ['gen_ai.usage.raw', { output_tokens_details: { reasoning_tokens: 17 } }, 17],
      ['langsmith.metadata.usage_metadata', '{"output_token_details": {"reasoning": 18}}', 18],
      ['langsmith.usage_metadata', '{"output_token_details": {"reasoning": 19}}', 19],
      ['braintrust.metrics', '{"completion_reasoning_tokens": 20}', 20],
      ['any.client.usage.completion_reasoning_tokens', 21],
    ],
  ],
  'usage.audio_input': [
    ({ call }) => call?.usage?.audio_input,
    [
      ['gen_ai.usage.audio.input_tokens', 11],
      ['gen_ai.usage.input_audio_tokens', 1],
      ['gen_ai.usage.details.input_audio_tokens', 2],
      ['gen_ai.usage.prompt_tokens_details.audio', 3],
      ['gen_ai.usage.details.audio_prompt_tokens', 4],
      ['gen_ai.usage.input_token_details', '{"audio": 5}', 5],
      ['llm.token_count.prompt_details.audio', 6],
      ['langfuse.observation.usage_details', '{"prompt_tokens_details": {"audio_tokens": 7}}', 7],
      [
        'ai.response.providerMetadata',
        '{"openrouter": {"usage": {"promptTokensDetails": {"audioTokens": 8}}}}',
        8,
      ],
      ['metadata.usage_object', "{'prompt_tokens_details': {'audio_tokens': 9}}", 9],
      ['gen_ai.usage.raw', '{"prompt_tokens_details": {"audio_tokens": 10}}', 10],
      ['langsmith.metadata.usage_metadata', '{"input_token_details": {"audio": 12}}', 12],
      ['langsmith.usage_metadata', '{"input_token_details": {"audio": 13}}', 13],
      ['braintrust.metrics', '{"prompt_audio_tokens": 14}', 14],
      ['any.client.usage.prompt_audio_tokens', 15],
    ],
  ],
  'usage.audio_output': [
    ({ call }) => call?.usage?.audio_output,
    [
      ['gen_ai.usage.audio.output_tokens', 11],
      ['gen_ai.usage.output_audio_tokens', 1],
      ['gen_ai.usage.details.output_audio_tokens', 2],
      ['gen_ai.usage.completion_tokens_details.audio', 3],
      ['gen_ai.usage.details.audio_candidates_tokens', 4],
      ['gen_ai.usage.output_token_details', '{"audio": 5}', 5],
      ['llm.token_count.completion_details.audio', 6],
      ['gen_ai.usage.details.audio_tokens', 7],
      ['langfuse.observation.usage_details', '{"completion_tokens_details": {"audio_tokens": 8}}', 8],
      ['ai.response.providerMetadata', '{"x": {"usage": {"outputTokenDetails": {"audioTokens": 9}}}}', 9],
      ['metadata.usage_object', "{'completion_tokens_details': {'audio_tokens': 10}}", 10],
      ['gen_ai.usage.raw', '{"completion_tokens_details": {"audio_tokens": 12}}', 12],
      ['langsmith.metadata.usage_metadata', '{"output_token_details": {"audio": 13}}', 13],
      ['langsmith.usage_metadata', '{"output_token_details": {"audio": 14}}', 14],
      ['braintrust.metrics', '{"completion_audio_tokens": 15}', 15],
      ['any.client.usage.completion_audio_tokens', 16],
    ],
  ],
  response_id: [
    ({ call }) => readCallKey(call?.key ?? '').response,
    [
      ['gen_ai.response.id', 'a', hashOf('a')],
      ['ai.response.id', 'b', hashOf('b')],
      ['LLMChatEndEvent.response.raw.id', 'd', hashOf('d')],
      ['LLMCompletionEndEvent.response.raw.id', 'e', hashOf('e')],
      ['output.value', '{"id": "chatcmpl-c"}', hashOf('chatcmpl-c')],
    ],
  ],
  provider: [
    ({ call }) => call?.provider,
    [
      ['gen_ai.provider.name', 'a'],
      ['gen_ai.system', 'b'],
      ['llm.provider', 'c'],
      ['llm.system', 'd'],
      ['ai.model.provider', 'e'],
      ['metadata', '{"ls_provider": "f"}', 'f'],
      ['langsmith.metadata.ls_provider', 'g'],
      ['traceloop.association.properties.ls_provider', 'h'],
      ['braintrust.metadata', '{"provider": "i"}', 'i'],
      ['mlflow.llm.provider', '"j"', 'j'],
    ],
  ],
  session_id: [
    ({ metadata }) => metadata?.session_id,
    [
      ['gen_ai.conversation.id', 'a'],
      ['session.id', 'b'],
      ['traceloop.association.properties.session_id', 'c'],
      ['lmnr.association.properties.session_id', 'd'],
      ['ai.telemetry.metadata.sessionId', 'e'],
      ['langfuse.session.id', 'f'],
      ['gcp.vertex.agent.session_id', 'g'],
      ['langfuse.trace.metadata.langfuse_session_id', 'h'],
      ['ai.telemetry.metadata.session_id', 'i'],
      ['ai.telemetry.metadata.conversationId', 'j'],
      ['ai.telemetry.metadata.threadId', 'k'],
      ['langsmith.metadata.session_id', 'l'],
      ['langsmith.metadata.conversation_id', 'm'],
      ['langsmith.metadata.thread_id', 'n'],
      ['metadata', '{"thread_id": "o"}', 'o'],
      ['metadata.session_id', 'p'],
      ['litellm.session_id', 'q'],
      ['mlflow.trace.session', 'r'],
      ['traceloop.association.properties.conversation_id', 's'],
      ['traceloop.association.properties.thread_id', 't'],
      ['ai.settings.context.sessionId', 'u'],
      ['ai.settings.context.conversationId', 'v'],
      ['braintrust.metadata', '{"session_id": "vv"}', 'vv'],
      ['group_id', 'w'],
      ['session_id', 'x'],
      ['sessionId', 'y'],
      ['conversation_id', 'z'],
      ['thread_id', 'aa'],
      ['conversation.id', 'ab'],
      ['any.client.session_id', 'ac'],
    ],
  ],
  user_id: [
    ({ metadata }) => metadata?.user_id,
    [
      ['user.id', 'a'],
      ['traceloop.association.properties.user_id', 'b'],
      ['lmnr.association.properties.user_id', 'c'],
      ['ai.telemetry.metadata.userId', 'd'],
      ['langfuse.user.id', 'e'],
      ['enduser.id', 'f'],
      ['gen_ai.user.id', 'g'],
      ['gen_ai.request.user', 'h'],
      ['llm.user', 'i'],
      ['langfuse.trace.metadata.langfuse_user_id', 'j'],
      ['ai.telemetry.metadata.user_id', 'k'],
      ['langsmith.metadata.user_id', 'l'],
      ['metadata', '{"user_id": "m"}', 'm'],
      ['metadata.user_api_key_end_user_id', 'n'],
      ['metadata.user_api_key_user_id', 'o'],
      ['metadata.user_id', 'p'],
      ['mlflow.trace.user', 'q'],
      ['ai.settings.context.userId', 'r'],
      ['llm.invocation_parameters', '{"user": "s"}', 's'],
      ['braintrust.metadata', '{"user_id": "ss"}', 'ss'],
      ['user_id', 't'],
      ['userId', 'u'],
      ['any.client.user_id', 'v'],
    ],
  ],
  tags: [
    ({ metadata }) => metadata?.tags,
    [
      ['tag.tags', ['a', 'b']],
      ['lmnr.association.properties.tags', '["c"]', ['c']],
      ['ai.telemetry.metadata.tags', 'd', ['d']],
      ['langfuse.trace.tags', ['e']],
      ['langfuse.tags', ['f']],
      ['logfire.tags', ['g']],
      ['langsmith.span.tags', 'h, i', ['h', 'i']],
      ['traceloop.association.properties.tags', ['j']],
      ['metadata', '{"tags": ["k"]}', ['k']],
      ['metadata.tags', ['l']],
      ['braintrust.tags', ['m']],
      ['mastra.tags', '["n"]', ['n']],
    ],
  ],
  first_chunk: [
    ({ call }) => call?.time_to_first_chunk_ms,
    [
      ['gen_ai.response.time_to_first_chunk', 0.001, 1],
      ['ai.response.msToFirstChunk', '2.5', 2.5],
      ['lk.response.ttft', 0.003, 3],
      ['lk.response.ttfb', 0.004, 4],
      ['metrics.ttfb', 0.005, 5],
      ['braintrust.metrics', '{"time_to_first_token": 0.006}', 6],
      ['ttft_ms', 7],
      ['any.client:ttftMs', 8],
      ['any.client.time_to_first_token_s', 0.009, 9],
      ['langfuse.observation.completion_start_time', '"2026-01-15T12:00:00.010Z"', 10],
      ['mastra.completion_start_time', '2026-01-15T12:00:00.011Z', 11],
      ['gen_ai.server.time_to_first_token', 0.012, 12],
      ['any.client.time_to_first_token', 0.013, 13],
    ],
  ],
  environment: [
    ({ context }) => context?.environment,
    [
      ['deployment.environment.name', 'a'],
      ['deployment.environment', 'b'],
      ['langfuse.environment', 'c'],
      ['sentry.environment', 'd'],
      ['gen_ai.environment', 'e'],
      ['environment', 'f'],
      ['any.client.metadata.environment', 'g'],
    ],
  ],
  release: [
    ({ context }) => context?.release,
    [
      ['service.version', 'a'],
      ['langfuse.release', 'b'],
      ['sentry.release', 'c'],
      ['vcs.ref.head.revision', 'd'],
      ['vcs.repository.ref.revision', 'e'],
      ['langsmith.metadata.revision_id', 'f'],
      ['release', 'g'],
      ['any.client.properties.release', 'h'],
    ],
  ],
  agent_version: [
    ({ context }) => context?.agent_version,
    [
      ['gen_ai.agent.version', 'a'],
      ['langfuse.version', 'b'],
      ['openlit.agent.version_hash', 'c'],
      ['agent_version', 'd'],
      ['any.client.agent_version', 'e'],
    ],
  ],
  input_data: [
    ({ input_data }) => input_data,
    [
      [
        'gen_ai.input.messages',
        '[{"role": "user", "parts": [{"type": "text", "content": "a"}]}]',
        { messages: [{ role: 'user', content: 'a' }] },
      ],
      ['gen_ai.prompt.0.content', 'b', { messages: [{ content: 'b' }] }],
      ['llm.input_messages.0.message.content', 'c', { messages: [{ content: 'c' }] }],
      [
        'ai.prompt.messages',
        '[{"role": "user", "content": "d"}]',
        { messages: [{ role: 'user', content: 'd' }] },
      ],
      ['traceloop.entity.input', '{"inputs": {"e": 1}, "kwargs": {}}', { e: 1 }],
      ['input.value', 'f', { value: 'f' }],
      ['gen_ai.prompt', 'g', { value: 'g' }],
      ['ai.prompt', '{"prompt": "h"}', { messages: [{ role: 'user', content: 'h' }] }],
      [
        'pydantic_ai.all_messages',
        '[{"role": "user", "parts": [{"type": "text", "content": "i"}]}, {"role": "assistant", "parts": []}]',
        { messages: [{ role: 'user', content: 'i' }] },
      ],
      [
        'all_messages_events',
        '[{"role": "user", "content": "i"}, {"role": "assistant", "content": "-"}]',
        { messages: [{ role: 'user', content: 'i' }] },
      ],
      [
        'events',
        '[{"event.name": "gen_ai.user.message", "content": "j"}, {"event.name": "gen_ai.choice"}]',
        { messages: [{ content: 'j' }] },
      ],
      [
        'lmnr.span.input',
        '[{"role": "user", "content": "j"}]',
        { messages: [{ role: 'user', content: 'j' }] },
      ],
      ['gen_ai.retrieval.query.text', 'k', { query: 'k' }],
      ['embedding.embeddings.0.embedding.text', 'l', { embeddings: [{ text: 'l' }] }],
      ['gcp.vertex.agent.llm_request', '{"contents": []}', { contents: [] }],
      ['langfuse.observation.input', '[1, 2]', { value: [1, 2] }],
      ['lk.pii.user_input', 'm', { value: 'm' }],
      ['lk.user_input', 'n', { value: 'n' }],
      ['input', 'r', { value: 'r' }],
      ['haystack.agent.step.llm.input', 's', { value: 's' }],
      ['haystack.component.input', 't', { value: 't' }],
      ['haystack.agent.input', 'u', { value: 'u' }],
      [
        'LLMChatStartEvent.messages',
        '[{"role": "user", "blocks": [{"block_type": "text", "text": "v"}]}]',
        { messages: [{ role: 'user', content: 'v' }] },
      ],
      ['LLMCompletionStartEvent.prompt', 'w', { value: 'w' }],
      ['QueryStartEvent.query', 'x', { query: 'x' }],
      ['llamaindex.step.input_summary', "AgentWorkflowStartEvent(user_msg='y', memory=None)", { value: 'y' }],
      ['EmbeddingEndEvent.chunks', ['z'], { value: ['z'] }],
      ['RetrievalStartEvent.str_or_query_bundle', 'aa', { query: 'aa' }],
      ['RetrievalStartEvent.str_or_query_bundle.query_str', 'ab', { query: 'ab' }],
      [
        'any.client.messages',
        '[{"role": "user", "content": "ac"}]',
        { messages: [{ role: 'user', content: 'ac' }] },
      ],
      ['any.client.input', 'ad', { value: 'ad' }],
    ],
  ],
  output_data: [
    ({ output_data }) => output_data,
    [
      [
        'gen_ai.output.messages',
        [{ role: 'assistant', parts: [{ type: 'text', content: 'a' }] }],
        { messages: [{ role: 'assistant', content: 'a' }] },
      ],
      ['gen_ai.completion.0.content', 'b', { messages: [{ role: 'assistant', content: 'b' }] }],
      ['llm.output_messages.0.message.content', 'c', { messages: [{ role: 'assistant', content: 'c' }] }],
      ['ai.response.text', 'd', { messages: [{ role: 'assistant', content: 'd' }] }],
      ['traceloop.entity.output', '"e"', { value: 'e' }],
      ['output.value', '{"f": 1}', { f: 1 }],
      ['gen_ai.completion', 'g', { value: 'g' }],
      ['ai.response.object', '{"h": 1}', { h: 1 }],
      [
        'all_messages_events',
        '[{"role": "user"}, {"role": "assistant", "content": "j"}]',
        { messages: [{ role: 'assistant', content: 'j' }] },
      ],
      [
        'events',
        '[{"event.name": "gen_ai.choice", "message": {"role": "assistant", "content": "k"}}]',
        { messages: [{ role: 'assistant', content: 'k' }] },
      ],
      ['final_result', 'l', { value: 'l' }],
      ['lmnr.span.output', 'm', { value: 'm' }],
      ['gen_ai.retrieval.documents', '[{"id": "n"}]', { documents: [{ id: 'n' }] }],
      ['retrieval.documents.0.document.id', 'o', { documents: [{ id: 'o' }] }],
      ['reranker.output_documents.0.document.id', 'p', { documents: [{ id: 'p' }] }],
      ['gcp.vertex.agent.llm_response', '{"content": {}}', { content: {} }],
      ['langfuse.observation.output', 'q', { value: 'q' }],
      ['lk.pii.response.text', 'qa', { value: 'qa' }],
      ['lk.response.text', 'qb', { value: 'qb' }],
      ['output', 'r', { value: 'r' }],
      [
        'LLMChatEndEvent.response.message.blocks',
        '[{"block_type": "text", "text": "s"}]',
        { messages: [{ role: 'assistant', content: 's' }] },
      ],
      ['LLMChatEndEvent.response.message.content', 't', { messages: [{ role: 'assistant', content: 't' }] }],
      ['LLMCompletionEndEvent.response.text', 'u', { messages: [{ role: 'assistant', content: 'u' }] }],
      ['QueryEndEvent.response.response', 'v', { value: 'v' }],
      [
        'workflow.output.output',
        "StopEvent(result=AgentOutput(response=ChatMessage(blocks=[TextBlock(block_type='text', text='w')])))",
        { value: 'w' },
      ],
      ['step.output.output', 'x', { value: 'x' }],
      ['EmbeddingEndEvent.embeddings', '[[1]]', { embeddings: [[1]] }],
      ['RetrievalEndEvent.nodes', '[{"y": 1}]', { documents: [{ y: 1 }] }],
      ['any.client.output', 'z', { value: 'z' }],
    ],
  ],
};

for (const [field, [show, sources]] of Object.entries(CHAINS))
  void t.test(`${field}: uses the first available source`, async (t) => {
    for (let first = 0; first < sources.length; first++) {
      const here = sources.slice(first);
      const [key, value, expected = value] = here[0] ?? ['', null];
      const attributes = attributesOf(here);
      const backwards = attributesOf(here.toReversed());
      t.strictSame(show(mapSpan({ ...attributes, ...LLM })), expected, key);
      t.strictSame(show(mapSpan({ ...LLM, ...backwards })), expected, `${key}, the last`);
      const alone = show(mapSpan({ [key]: value, ...LLM }));
      t.strictSame(alone, expected, `${key} alone`);
    }
  });

void t.test('the first chunk of an answer: by an event, and in any unit', async (t) => {
  const event = (name: string, after: number): SpanEvent => ({
    name,
    timeUnixNano: (BigInt(START) + BigInt(after * 1e6)).toString(),
  });
  const after = (attributes: JsonObject, changes: Partial<Span> = {}) =>
    mapSpan({ ...LLM, ...attributes }, { endTimeUnixNano: end(2000), ...changes }).call
      ?.time_to_first_chunk_ms;
  const end = (ms: number): string => (BigInt(START) + BigInt(ms * 1e6)).toString();
  for (const name of ['First Token Stream Event', 'llm.content.completion.chunk', 'mlflow.chunk.item.0'])
    t.equal(after({}, { events: [event('other', 1), event(name, 40), event(name, 50)] }), 40, name);
  t.equal(after({ ttft_ms: 30 }, { events: [event('First Token Stream Event', 40)] }), 30);
  t.equal(after({}, { events: [event('First Token Stream Event', -1)] }), undefined, 'before the start');
  const unit = 'gen_ai.server.time_to_first_token';
  t.equal(after({ [unit]: 61 }), 61, 'milliseconds');
  t.equal(after({ [unit]: 61.5 }), 61.5, 'milliseconds, because seconds would end after the span');
  t.equal(after({ [unit]: 0.25 }), 250, 'seconds');
  t.equal(after({ [unit]: 250_000_000 }), 250, 'nanoseconds');
  t.equal(after({ [unit]: 9e9 }), undefined, 'later than the end');
  for (const value of [-1, 'soon', '', null, [1], true])
    t.equal(after({ 'gen_ai.response.time_to_first_chunk': value }), undefined, JSON.stringify(value));
  t.equal(after({ 'langfuse.observation.completion_start_time': 'soon' }), undefined);
  const { call } = mapSpan({ 'http.request.method': 'GET', 'browser.ttfb': 3, 'app.ttfb': 0.3 });
  t.equal(call, null, 'of a request that calls no model');
});

void t.test('no two sources of a field share a rank', async (t) => {
  for (const field of FIELDS) {
    if (field.startsWith('is_')) continue;
    const ranks = CONVENTIONS.flatMap(({ fields = {}, prefixes }) =>
      [fields[field], prefixes?.[field]].flatMap((sources) =>
        Object.values(sources ?? {}).map(({ rank }) => rank),
      ),
    );
    t.equal(new Set(ranks).size, ranks.length, field);
  }
});

void t.test('a prompt takes name and version from one convention, the first with both', async (t) => {
  const sources = [
    ['langfuse.observation.prompt.name', 'a', 'langfuse.observation.prompt.version', 1],
    ['traceloop.prompt.key', 'b', 'traceloop.prompt.version', 2],
    ['gen_ai.prompt.name', 'c', 'gen_ai.prompt.version', 3],
    ['gen_ai.prompt.name', 'c', 'llm.prompt_template.version', 4],
  ] as const;
  const attributesOf = (pairs: readonly (typeof sources)[number][]): JsonObject =>
    Object.fromEntries(
      pairs.flatMap(([nameKey, name, versionKey, version]): [string, JsonValue][] => [
        [nameKey, name],
        [versionKey, version],
      ]),
    );
  for (const [first, pair] of sources.entries()) {
    const [, name, , version] = pair;
    const expected = { name, version };
    t.strictSame(mapSpan(attributesOf(sources.slice(first))).prompt, expected);
    t.strictSame(mapSpan(attributesOf(sources.slice(first).toReversed())).prompt, expected);
    t.strictSame(mapSpan(attributesOf([pair])).prompt, expected);
  }
  const halves = { 'langfuse.observation.prompt.name': 'a', 'gen_ai.prompt.version': 3 };
  t.equal(mapSpan(halves).prompt, null);
  t.strictSame(mapSpan({ ...halves, 'traceloop.prompt.key': 'b', 'traceloop.prompt.version': 2 }).prompt, {
    name: 'b',
    version: 2,
  });
});

void t.test('a prompt version is a whole number from 0, as number or digits', async (t) => {
  const promptOf = (name: JsonValue, version: JsonValue) =>
    mapSpan({ 'gen_ai.prompt.name': name, 'gen_ai.prompt.version': version }).prompt;
  for (const [version, expected] of [
    [0, 0],
    ['0', 0],
    [7, 7],
    ['7', 7],
    ['007', 7],
    [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  ] as const)
    t.strictSame(promptOf('p', version), { name: 'p', version: expected });
  for (const version of [-1, 1.5, '', ' ', 'v7', '1.0', '1e3', '99999999999999999999', true, [1], null])
    t.equal(promptOf('p', version), null, JSON.stringify(version));
  t.strictSame(promptOf(' a/b %2F 🪶\0 ', 1), { name: ' a/b %2F 🪶\0 ', version: 1 }, 'the name as sent');
  for (const name of ['', '  ', null, ['p']]) t.equal(promptOf(name, 1), null, JSON.stringify(name));
  t.equal(mapSpan({ 'gen_ai.prompt.name': 'p' }).prompt, null);
  t.equal(mapSpan({ 'gen_ai.prompt.version': 1 }).prompt, null);
  const { metadata } = mapSpan({ 'gen_ai.prompt.name': 'p', 'gen_ai.prompt.version': 1 });
  t.match(metadata, { 'gen_ai.prompt.name': 'p', 'gen_ai.prompt.version': 1 }, 'the attributes are kept');
});

function attributesOf(sources: readonly (readonly [string, JsonValue, JsonValue?])[]): JsonObject {
  return Object.fromEntries(sources.map(([key, value]) => [key, value]));
}

void t.test('cost parts add up to the total for every convention', async (t) => {
  const costOf = (attributes: JsonObject) => {
    const { cost_usd, call } = mapSpan({ ...LLM, ...attributes });
    return [cost_usd, call?.cost ?? null];
  };
  const reported = { source: 'reported', rule: null };
  const parts = { input: 8400, cached_read: 4800, output: 27_000 };
  t.strictSame(
    costOf({
      'gen_ai.cost.total_cost': 4.02e-5,
      'gen_ai.cost.input_cost': 1.3199999999999999e-5,
      'gen_ai.cost.cache_read_cost': 4.8e-6,
      'gen_ai.cost.output_cost': 2.7e-5,
    }),
    [40_200, { ...reported, ...parts }],
    'LiteLLM',
  );
  t.strictSame(
    costOf({
      'llm.cost.prompt': 1.32e-5,
      'llm.cost.completion': 2.7e-5,
      'llm.cost.prompt_details.cache_read': 4.8e-6,
    }),
    [40_200, { ...reported, ...parts }],
    'OpenInference without a total',
  );
  t.strictSame(
    costOf({
      'langfuse.observation.cost_details':
        '{"input": 8.4e-6, "input_cached_tokens": 4.8e-6, "output": 2.7e-5}',
    }),
    [40_200, { ...reported, ...parts }],
    'Langfuse',
  );
  t.strictSame(costOf({ 'gen_ai.usage.cost': 2e-8 }), [20, null], 'no parts');
  t.strictSame(costOf({ 'llm.cost.prompt_details.cache_read': 1 }), [null, null], 'a part is not a cost');
});

void t.test('parts of Langfuse usage are separate, parts of OpenAI usage are included', async (t) => {
  const tokensOf = (usage: JsonObject) => {
    const { input_tokens, output_tokens, total_tokens, call } = mapSpan({
      'langfuse.observation.type': 'generation',
      'langfuse.observation.usage_details': JSON.stringify(usage),
    });
    return [input_tokens, output_tokens, total_tokens, call?.usage ?? null];
  };
  t.strictSame(
    tokensOf({ input: 56, input_cached_tokens: 64, output: 29, output_reasoning_tokens: 16, total: 165 }),
    [120, 45, 165, { cached_read: 64, reasoning: 16 }],
  );
  t.strictSame(
    tokensOf({ input: 100, cache_read_input_tokens: 15, cache_creation_input_tokens: 5, output: 45 }),
    [120, 45, null, { cached_read: 15, cached_write: 5 }],
  );
  t.strictSame(
    tokensOf({
      prompt_tokens: 120,
      completion_tokens: 45,
      total_tokens: 165,
      prompt_tokens_details: { cached_tokens: 64 },
      completion_tokens_details: { reasoning_tokens: 16 },
    }),
    [120, 45, 165, { cached_read: 64, reasoning: 16 }],
  );
});
