import t from 'tap';
import type { JsonObject, JsonValue } from '../../../src/signal/attributes.js';
import type { ServiceTier, UsageParts } from '../../../src/signal/call-details.js';
import { mapSpan } from '../../support/mapped-span.js';

interface Expected {
  readonly model?: string;
  readonly output?: number;
  readonly usage?: UsageParts;
  readonly tier?: ServiceTier;
  readonly isCacheHit?: boolean;
  readonly cost?: number;
}

const CHAT = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'asked' };
const tokens = (input: number, output: number, total?: number): JsonObject => ({
  'gen_ai.usage.input_tokens': input,
  'gen_ai.usage.output_tokens': output,
  ...(total === undefined ? {} : { 'gen_ai.usage.total_tokens': total }),
});
const vercel = (metadata: JsonValue): JsonObject => ({
  'ai.operationId': 'ai.generateText.doGenerate',
  'ai.response.providerMetadata': JSON.stringify(metadata),
});
const WRITES = { cached_write: 40, cached_write_5m: 10, cached_write_1h: 30 };

const CALLS: readonly (readonly [name: string, sent: JsonObject, expected: Expected])[] = [
  [
    'thoughts next to the output',
    { ...CHAT, ...tokens(100, 50, 1150), 'gen_ai.usage.reasoning.output_tokens': 1000 },
    { output: 1050, usage: { reasoning: 1000 } },
  ],
  [
    'thoughts next to a longer output',
    { ...CHAT, ...tokens(100, 500, 620), 'gen_ai.usage.reasoning.output_tokens': 20 },
    { output: 520 },
  ],
  [
    'reasoning within the output',
    { ...CHAT, ...tokens(100, 1050, 1150), 'gen_ai.usage.reasoning.output_tokens': 1000 },
    { output: 1050 },
  ],
  [
    'thoughts next to the output without a total',
    {
      'openinference.span.kind': 'LLM',
      'llm.token_count.completion': 50,
      'llm.token_count.completion_details.reasoning': 1000,
    },
    { output: 1050 },
  ],
  [
    'more reasoning than output, within the total',
    { ...CHAT, ...tokens(100, 50, 150), 'gen_ai.usage.reasoning.output_tokens': 60 },
    { output: 50 },
  ],
  [
    'a total of Gemini with unreported thoughts',
    { ...CHAT, 'gen_ai.response.model': 'gemini-2.5-flash', ...tokens(120, 14, 150) },
    { output: 30 },
  ],
  ['a total with unreported caches', { ...CHAT, ...tokens(4299, 631, 58_291) }, { output: 631 }],
  [
    "Gemini's own usage",
    vercel({ google: { usageMetadata: { candidatesTokenCount: 5, thoughtsTokenCount: 7 } } }),
    { usage: { reasoning: 7 } },
  ],
  [
    "Langfuse's writes by lifetime",
    {
      'langfuse.observation.type': 'generation',
      'langfuse.observation.usage_details':
        '{"input": 1, "output": 2, "input_cache_creation_1h": 30, "input_cache_creation_5m": 10}',
    },
    { usage: WRITES },
  ],
  [
    "LangChain's writes by lifetime",
    {
      'langsmith.span.kind': 'llm',
      'langsmith.usage_metadata': JSON.stringify({
        input_tokens: 50,
        input_token_details: {
          cache_creation: 0,
          ephemeral_5m_input_tokens: 10,
          ephemeral_1h_input_tokens: 30,
        },
      }),
    },
    { usage: WRITES },
  ],
  [
    "Anthropic's writes by lifetime",
    vercel({
      anthropic: {
        usage: {
          cache_creation_input_tokens: 41,
          cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 30 },
          service_tier: 'batch',
        },
      },
    }),
    { usage: { ...WRITES, cached_write: 41 }, tier: 'batch' },
  ],
  ["OpenAI's tier", { ...CHAT, 'openai.response.service_tier': 'flex' }, { tier: 'flex' }],
  [
    'the tier of the answer, not of the question',
    { ...CHAT, 'openai.request.service_tier': 'flex', 'openai.response.service_tier': 'default' },
    {},
  ],
  ["Vercel's tier", vercel({ openai: { serviceTier: 'priority' } }), { tier: 'priority' }],
  [
    'a cache hit',
    { ...CHAT, 'gen_ai.usage.cost': 0, 'metadata.cache_hit': 'True' },
    { isCacheHit: true, cost: 0 },
  ],
  ['a cache miss', { ...CHAT, 'gen_ai.usage.cost': 0, 'metadata.cache_hit': 'False' }, { cost: 0 }],
  ['no answering model', { ...CHAT, 'gen_ai.response.model': 'none' }, { model: 'asked' }],
  ['another answering model', { ...CHAT, 'gen_ai.response.model': 'answered' }, { model: 'answered' }],
  [
    'an answer that names less than the question',
    { ...CHAT, 'gen_ai.request.model': 'azure/gpt-4-turbo-2024-04-09', 'gen_ai.response.model': 'gpt-4' },
    { model: 'azure/gpt-4-turbo-2024-04-09' },
  ],
  [
    'an answer that names more',
    { ...CHAT, 'gen_ai.request.model': 'gpt-5', 'gen_ai.response.model': 'gpt-5-2025-08-07' },
    { model: 'gpt-5-2025-08-07' },
  ],
];

for (const [name, sent, expected] of CALLS)
  void t.test(name, async (t) => {
    const { type, model, output_tokens, call, cost_usd } = mapSpan(sent);
    t.equal(type, 'llm');
    if (expected.model !== undefined) t.equal(model, expected.model);
    if (expected.output !== undefined) t.equal(output_tokens, expected.output);
    if (expected.usage !== undefined) t.strictSame(call?.usage, expected.usage);
    t.equal(call?.tier, expected.tier);
    t.equal(call?.isCacheHit, expected.isCacheHit);
    if (expected.cost !== undefined) t.equal(cost_usd, expected.cost);
  });
