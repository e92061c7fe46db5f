import type { Convention, Reader } from './convention.js';
import { parseAny } from '../json-text.js';

const MODEL_CALL = /\.do(Generate|Stream|Embed)$/;

const kind: Reader = (value) => {
  if (typeof value !== 'string' || !value.startsWith('ai.')) return undefined;
  if (value === 'ai.toolCall') return 'tool';
  return MODEL_CALL.test(value) ? 'llm' : 'agent at the root';
};

/** The SDK writes arguments and results of tools as JSON, texts too. */
const json: Reader = (value) => (typeof value === 'string' ? (parseAny(value) ?? value) : value) ?? undefined;

/** The Vercel AI SDK, versions 3 to 6. */
export const VERCEL_AI: Convention = {
  fields: {
    kind: { 'ai.operationId': { rank: 6, read: kind } },
    model: { 'ai.model.id': { rank: 6 } },
    provider: { 'ai.model.provider': { rank: 5 } },
    session_id: { 'ai.telemetry.metadata.sessionId': { rank: 5 } },
    user_id: { 'ai.telemetry.metadata.userId': { rank: 4 } },
    tags: { 'ai.telemetry.metadata.tags': { rank: 3 } },
    input_tokens: {
      'ai.usage.promptTokens': { rank: 5 },
      'ai.usage.inputTokens': { rank: 6 },
      'ai.usage.tokens': { rank: 7 },
    },
    output_tokens: { 'ai.usage.completionTokens': { rank: 5 }, 'ai.usage.outputTokens': { rank: 6 } },
    total_tokens: { 'ai.usage.totalTokens': { rank: 4 } },
    cache_read: { 'ai.usage.cachedInputTokens': { rank: 7 } },
    reasoning: { 'ai.usage.reasoningTokens': { rank: 7 } },
    input: {
      'ai.prompt.messages': { rank: 5, shape: 'messages' },
      'ai.prompt': { rank: 9 },
      'ai.value': { rank: 10 },
      'ai.values': { rank: 11 },
    },
    output: {
      'ai.response.text': { rank: 5, shape: 'text' },
      'ai.response.object': { rank: 9 },
      'ai.response.toolCalls': { rank: 10 },
    },
    arguments: { 'ai.toolCall.args': { rank: 5, read: json } },
    result: { 'ai.toolCall.result': { rank: 5, read: json } },
    tools: { 'ai.prompt.tools': { rank: 5 } },
    finish_reasons: { 'ai.response.finishReason': { rank: 3 } },
  },
  prefixes: {
    parameters: { 'ai.settings.': { rank: 3 } },
  },
};
