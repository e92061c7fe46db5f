import type { Convention, Reader } from '../conventions/convention.js';
import { anywhereInside, cost, firstOf, inside, payload, text } from '../conventions/readers.js';
import { ofProvider } from '../conventions/usage-readers.js';
import { parseAny } from '../json-text.js';

const MODEL_CALL = /\.do(Generate|Stream|Embed)$/;

const kind: Reader = (value) => {
  if (typeof value !== 'string' || !value.startsWith('ai.')) return undefined;
  if (value === 'ai.toolCall') return 'tool';
  return MODEL_CALL.test(value) ? 'llm' : 'root span is an agent';
};

/** The SDK writes arguments and results of tools as JSON, including texts. */
const json: Reader = (value) => (typeof value === 'string' ? (parseAny(value) ?? value) : value) ?? undefined;

const PROVIDER_METADATA = 'ai.response.providerMetadata';

/** The embedded texts, each as JSON. */
const jsonList: Reader = (value) => {
  const found = payload(value);
  return Array.isArray(found) ? found.map((item) => json(item) ?? null) : found;
};

/** The Vercel AI SDK, versions 3 to 7. */
export const VERCEL_AI: Convention = {
  fields: {
    kind: { 'ai.operationId': { rank: 7, read: kind } },
    function: { 'ai.telemetry.functionId': { rank: 1 } },
    tool_name: { 'ai.toolCall.name': { rank: 3 } },
    model: { 'ai.model.id': { rank: 6 } },
    provider: { 'ai.model.provider': { rank: 5 } },
    asked_model: { 'ai.model.id': { rank: 3 } },
    service_tier: {
      [PROVIDER_METADATA]: {
        rank: 13,
        // OpenAI's, and Anthropic's in its usage.
        read: anywhereInside(
          ['serviceTier', 'service_tier', 'usage'],
          firstOf(text, inside(['service_tier', 'serviceTier'], text)),
        ),
      },
    },
    response_id: { 'ai.response.id': { rank: 2 } },
    session_id: {
      'ai.telemetry.metadata.sessionId': { rank: 5 },
      'ai.telemetry.metadata.session_id': { rank: 9 },
      'ai.telemetry.metadata.conversationId': { rank: 10 },
      'ai.telemetry.metadata.threadId': { rank: 11 },
      'ai.settings.context.sessionId': { rank: 22 },
      'ai.settings.context.conversationId': { rank: 23 },
    },
    user_id: {
      'ai.telemetry.metadata.userId': { rank: 4 },
      'ai.telemetry.metadata.user_id': { rank: 11 },
      'ai.settings.context.userId': { rank: 18 },
    },
    tags: { 'ai.telemetry.metadata.tags': { rank: 3 } },
    input_tokens: {
      'ai.usage.promptTokens': { rank: 5 },
      'ai.usage.inputTokens': { rank: 6 },
      'ai.usage.tokens': { rank: 7 },
    },
    output_tokens: { 'ai.usage.completionTokens': { rank: 5 }, 'ai.usage.outputTokens': { rank: 6 } },
    total_tokens: { 'ai.usage.totalTokens': { rank: 4 } },
    cached_read: {
      'ai.usage.cachedInputTokens': { rank: 7 },
      'ai.usage.inputTokenDetails.cacheReadTokens': { rank: 9 },
      [PROVIDER_METADATA]: { rank: 12, read: ofProvider('cached_read') },
    },
    cached_write: {
      'ai.usage.inputTokenDetails.cacheWriteTokens': { rank: 11 },
      [PROVIDER_METADATA]: { rank: 12, read: ofProvider('cached_write') },
    },
    cached_write_5m: { [PROVIDER_METADATA]: { rank: 12, read: ofProvider('cached_write_5m') } },
    cached_write_1h: { [PROVIDER_METADATA]: { rank: 12, read: ofProvider('cached_write_1h') } },
    reasoning: {
      'ai.usage.reasoningTokens': { rank: 7 },
      'ai.usage.outputTokenDetails.reasoningTokens': { rank: 9 },
      [PROVIDER_METADATA]: { rank: 12, read: ofProvider('reasoning') },
    },
    audio_input: { [PROVIDER_METADATA]: { rank: 12, read: ofProvider('audio_input') } },
    audio_output: { [PROVIDER_METADATA]: { rank: 12, read: ofProvider('audio_output') } },
    cost: {
      [PROVIDER_METADATA]: {
        rank: 14,
        // The gateway of the SDK's vendor, and OpenRouter.
        read: anywhereInside(['cost', 'usage'], firstOf(cost, inside(['cost'], cost))),
      },
    },
    input: {
      'ai.prompt.messages': { rank: 5, shape: 'messages' },
      'ai.prompt': { rank: 9, shape: 'prompt' },
      'ai.value': { rank: 10 },
      'ai.values': { rank: 11, read: jsonList },
    },
    output: {
      'ai.response.text': { rank: 5, shape: 'text' },
      'ai.response.object': { rank: 9 },
      'ai.response.toolCalls': { rank: 10, shape: 'calls' },
    },
    arguments: { 'ai.toolCall.args': { rank: 5, read: json } },
    result: { 'ai.toolCall.result': { rank: 5, read: json } },
    tools: { 'ai.prompt.tools': { rank: 5 } },
    finish_reasons: { 'ai.response.finishReason': { rank: 3 } },
    first_chunk: { 'ai.response.msToFirstChunk': { rank: 3 } },
  },
  prefixes: {
    parameters: { 'ai.settings.': { rank: 3 } },
  },
  agentNames: { generic: ['ai.*'] },
};
