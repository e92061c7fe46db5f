import t from 'tap';
import type { JsonObject, JsonValue } from '../../../src/signal/attributes.js';
import { mapRun, type MappedRun, type SentSpan } from '../../support/mapped-run.js';
import { mapSpan } from '../../support/mapped-span.js';

const QUESTION = { role: 'user', content: 'weather in Berlin?' };
const CALL = {
  role: 'assistant',
  tool_calls: [{ id: 'c1', name: 'get_weather', arguments: { city: 'Berlin' } }],
};
const ANSWER = { role: 'assistant', content: 'It is sunny.' };
const USAGE = { cached_read: 64, reasoning: 16 };

/** Clients that no table knows, each with its own way to name the same things. */
const MADE_UP: Readonly<Record<string, readonly [root: SentSpan, expected: Partial<MappedRun>]>> = {
  'flat attributes in snake case': [
    {
      name: 'weather_acme',
      attributes: {
        'acme.span.kind': 'agent',
        'acme.session_id': 's-1',
        'acme.user.id': 'u-1',
        'acme.tags': ['a'],
        'acme.input': 'weather in Berlin?',
        'acme.output': 'It is sunny.',
      },
      children: [
        {
          name: 'completion',
          attributes: {
            'acme.span.kind': 'LLM',
            'acme.model': 'gpt-4o-mini',
            'acme.provider': 'openai',
            'acme.messages': JSON.stringify([QUESTION]),
            'acme.output_messages': JSON.stringify([CALL]),
            'acme.usage.prompt_tokens': 120,
            'acme.usage.completion_tokens': 45,
            'acme.usage.prompt_tokens_details.cached_tokens': 64,
            'acme.usage.reasoning_tokens': 16,
            'acme.request.max_tokens': 1000,
          },
        },
        {
          name: 'run tool',
          attributes: {
            'acme.span.kind': 'tool',
            'acme.tool.name': 'get_weather',
            'acme.tool.arguments': '{"city": "Berlin"}',
            'acme.tool.result': 'sunny',
          },
        },
      ],
    },
    {
      agent: 'weather_acme',
      session: 's-1',
      user: 'u-1',
      tags: ['a'],
      calls: [['gpt-4o-mini', 'openai', 120, 45, USAGE]],
      tools: [['get_weather', { city: 'Berlin' }, 'sunny']],
      question: { value: 'weather in Berlin?' },
      answer: { value: 'It is sunny.' },
    },
  ],

  'colons, camel case and no word for the kind': [
    {
      name: 'weather',
      attributes: { 'flow:agentName': 'weather_flow', 'flow:conversationId': 's-2', 'flow:input': 'hi' },
      children: [
        {
          name: 'chat',
          attributes: {
            'flow:modelName': 'gpt-4o-mini',
            'flow:inputMessages': JSON.stringify([QUESTION]),
            'flow:tokenUsage': '{"inputTokens": 120, "outputTokens": 45, "cachedInputTokens": 64}',
          },
        },
        {
          name: 'tool',
          attributes: {
            'flow:toolName': 'get_weather',
            'flow:toolArgs': '{"city": "Berlin"}',
            'flow:toolOutput': 'sunny',
          },
        },
      ],
    },
    {
      agent: 'weather_flow',
      session: 's-2',
      calls: [['gpt-4o-mini', null, 120, 45, { cached_read: 64 }]],
      tools: [['get_weather', { city: 'Berlin' }, 'sunny']],
    },
  ],

  'plain words next to a kind': [
    {
      name: 'handle',
      attributes: {
        'zeta.kind': 'agent',
        'zeta.agent.name': 'Zed',
        'zeta.session': 's-4',
        'zeta.question': 'weather in Berlin?',
        'zeta.answer': 'It is sunny.',
      },
      children: [
        {
          name: 'ask',
          attributes: {
            'zeta.kind': 'llm',
            'zeta.request.model': 'gpt-4o-mini',
            'zeta.request.max_tokens': 99,
            'zeta.response.text': 'It is sunny.',
            'zeta.response.tokens.prompt': 120,
            'zeta.response.tokens.completion': 45,
          },
        },
        {
          name: 'use',
          attributes: {
            'zeta.kind': 'tool',
            'zeta.tool': 'get_weather',
            'zeta.tool.call.arguments': '{"city": "Berlin"}',
            'zeta.tool.call.result': 'sunny',
          },
        },
      ],
    },
    {
      agent: 'Zed',
      session: 's-4',
      calls: [['gpt-4o-mini', null, 120, 45, null]],
      tools: [['get_weather', { city: 'Berlin' }, 'sunny']],
      question: { value: 'weather in Berlin?' },
      answer: { value: 'It is sunny.' },
    },
  ],

  'pairs of words without a kind': [
    {
      name: 'turn',
      attributes: {
        'bot.agent': 'Weather bot',
        'bot.chat_id': 's-5',
        'bot.user': 'u-5',
        'bot.user_message': 'weather in Berlin?',
        'bot.reply': 'It is sunny.',
      },
      children: [
        {
          name: 'inference',
          attributes: {
            'bot.model': 'gpt-4o-mini',
            'bot.tokens_in': 120,
            'bot.tokens_out': 45,
            'bot.usage.cached': 64,
          },
        },
        {
          name: 'function call',
          attributes: {
            'bot.function.name': 'get_weather',
            'bot.function.arguments': '{"city": "Berlin"}',
            'bot.function.response': 'sunny',
          },
        },
      ],
    },
    {
      agent: 'Weather bot',
      session: 's-5',
      user: 'u-5',
      calls: [['gpt-4o-mini', null, 120, 45, { cached_read: 64 }]],
      tools: [['get_weather', { city: 'Berlin' }, 'sunny']],
      question: { value: 'weather in Berlin?' },
      answer: { value: 'It is sunny.' },
    },
  ],

  'one prefix in snake case': [
    {
      name: 'AGENT',
      attributes: {
        orbit_kind: 'AGENT',
        orbit_agent_name: 'Scout',
        orbit_session_id: 's-6',
        orbit_input: 'weather in Berlin?',
        orbit_output: 'It is sunny.',
      },
      children: [
        {
          name: 'LLM',
          attributes: {
            orbit_kind: 'LLM',
            orbit_model: 'gpt-4o-mini',
            orbit_prompt_tokens: 120,
            orbit_completion_tokens: 45,
            orbit_messages: JSON.stringify([QUESTION]),
          },
        },
        {
          name: 'TOOL',
          attributes: {
            orbit_kind: 'TOOL',
            orbit_name: 'get_weather',
            orbit_tool_input: '{"city": "Berlin"}',
            orbit_tool_output: 'sunny',
          },
        },
      ],
    },
    {
      agent: 'Scout',
      session: 's-6',
      calls: [['gpt-4o-mini', null, 120, 45, null]],
      tools: [['get_weather', { city: 'Berlin' }, 'sunny']],
      question: { value: 'weather in Berlin?' },
      answer: { value: 'It is sunny.' },
    },
  ],

  "the provider's request and response as they are": [
    {
      name: 'weather_raw',
      attributes: { 'raw.run_type': 'chain', 'raw.thread_id': 's-3' },
      children: [
        {
          name: 'POST',
          attributes: {
            'raw.request': JSON.stringify({ model: 'claude-sonnet-4-5', messages: [QUESTION] }),
            'raw.response': JSON.stringify({
              model: 'claude-sonnet-4-5-20250929',
              role: 'assistant',
              content: [{ type: 'text', text: 'It is sunny.' }],
              usage: { input_tokens: 56, cache_read_input_tokens: 64, output_tokens: 45 },
            }),
            'raw.run_type': 'llm',
          },
        },
        {
          name: 'POST',
          attributes: {
            'raw.output': JSON.stringify({
              model: 'gpt-4o-mini',
              choices: [{ message: ANSWER, finish_reason: 'stop' }],
              usage: { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 },
            }),
          },
        },
      ],
    },
    {
      agent: 'weather_raw',
      session: 's-3',
      calls: [
        ['claude-sonnet-4-5-20250929', null, 120, 45, { cached_read: 64 }],
        ['gpt-4o-mini', null, 20, 5, null],
      ],
    },
  ],
};

for (const [name, [root, expected]] of Object.entries(MADE_UP))
  void t.test(name, async (t) => {
    t.match(mapRun(root), expected);
  });

void t.test('values next to their type, as LangWatch sends them', async (t) => {
  const typed = (type: string, value: JsonValue) => JSON.stringify({ type, value });
  const { calls, tools, question, answer } = mapRun({
    name: 'weather_lw',
    attributes: {
      'langwatch.span.type': 'llm',
      'langwatch.input': typed('chat_messages', [QUESTION]),
      'langwatch.output': typed('text', 'It is sunny.'),
      'langwatch.metrics': '{"prompt_tokens": 120, "completion_tokens": 45}',
    },
    children: [
      {
        name: 'get_weather',
        attributes: {
          'langwatch.span.type': 'tool',
          'langwatch.input': typed('json', { city: 'Berlin' }),
          'langwatch.output': typed('text', 'sunny'),
        },
      },
    ],
  });
  t.strictSame(calls, [[null, null, 120, 45, null]]);
  t.strictSame(tools, [['get_weather', { city: 'Berlin' }, 'sunny']]);
  t.strictSame([question, answer], [{ messages: [QUESTION] }, { value: 'It is sunny.' }]);
});

void t.test('a failure in words of any client', async (t) => {
  const FAILED: readonly (readonly [JsonObject, string | null])[] = [
    [{ 'acme.kind': 'tool', 'acme.error': 'no such city' }, 'no such city'],
    [{ 'acme.kind': 'llm', 'acme.status': 'ERROR', 'acme.error_message': 'overloaded' }, 'overloaded'],
    [{ 'acme.tool.name': 'add', 'acme.tool.success': false }, null],
  ];
  for (const [attributes, error] of FAILED)
    t.match(mapSpan(attributes), { status: 'failed', error_message: error }, JSON.stringify(attributes));
  const { status } = mapSpan({ 'acme.kind': 'tool', 'acme.error': 'none', 'acme.status': 'done' });
  t.equal(status, 'completed');
});

void t.test('figures of a total are the cost, and numbers of tokens no payload', async (t) => {
  const { cost_usd, input_tokens, input_data, output_data } = mapSpan({
    'acme.kind': 'llm',
    'acme.metrics.tokens.input': 11,
    'acme.metrics.tokens.output': 5,
    'acme.cost.total': 0.25,
    'acme.response.content': 'It is sunny.',
  });
  t.strictSame([cost_usd, input_tokens, input_data], [250_000_000, 11, null]);
  t.strictSame(output_data, { value: 'It is sunny.' });
});

void t.test('messages in flat attributes are a conversation', async (t) => {
  const { type, input_data, output_data } = mapSpan({
    'acme.model': 'm',
    'acme.messages.0.role': 'user',
    'acme.messages.0.content': 'weather in Berlin?',
    'acme.completions.0.role': 'assistant',
    'acme.completions.0.content': 'It is sunny.',
    'acme.tokens.input': 12,
  });
  t.equal(type, 'llm');
  t.strictSame([input_data?.messages, output_data?.messages], [[QUESTION], [ANSWER]]);
});

void t.test('a known attribute wins over one of the same meaning that is not', async (t) => {
  const { model, input_tokens, type } = mapSpan({
    'acme.span.kind': 'tool',
    'acme.model': 'guessed',
    'acme.usage.input_tokens': 1,
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'known',
    'gen_ai.usage.input_tokens': 2,
  });
  t.strictSame([type, model, input_tokens], ['llm', 'known', 2]);
});

void t.test('spans of services, limits, prices and other meanings of the words are no calls', async (t) => {
  const OTHERS: readonly JsonObject[] = [
    { 'http.request.method': 'POST', 'app.model': 'gpt-4o-mini', 'app.input': 'x' },
    { 'db.system.name': 'postgresql', 'db.query.text': 'select', 'app.model': 'users', 'app.tool.name': 'x' },
    { 'messaging.system': 'kafka', 'queue.messages': 12, 'app.type': 'llm' },
    {
      'app.model': 'gpt-4o-mini',
      'app.max_tokens': 100,
      'app.max_input_tokens': 200,
      'app.limits.input_tokens': 5,
    },
    { 'app.model': 'gpt-4o-mini', 'app.ratelimit.remaining.prompt_tokens': 5, 'price.input_tokens': 0.15 },
    { 'car.model': 'Golf', 'car.type': 'model', 'car.usage': 0.5 },
    { 'user.type': 'agent', 'user_agent.name': 'curl', 'code.function.name': 'f', 'thread.id': 7 },
    { 'support.agent.name': 'Maria', 'ticket.id': 3 },
    { 'crm.agent': 'Maria', 'session.id': 's-1', 'ci.workflow_name': 'Build', 'ci.status': 'success' },
    { order_agent: 'Maria', order_model: 'Golf', order_total: 3, order_input_count: 4 },
    { 'message.type': 'chat', 'resource.type': 'tool', 'process.runtime.name': 'node' },
    { 'app.messages': 'three', 'app.model': 'small' },
    { 'wallet.total_tokens': 50, 'parser.tokens': 77, 'lexer.input.tokens': 9, 'cache.usage.input': 5 },
    { 'memory.usage': '{"total": 512}', 'aws.metrics': '{"input": 3, "output": 4}' },
    { 'http.request.method': 'POST', 'tokens.input': 5 },
    { 'disk.usage': '{"input": 3, "output": 4, "total": 7}', 'device.model.name': 'x' },
  ];
  for (const attributes of OTHERS) {
    const { type, input_tokens, output_tokens, total_tokens, agent_hint } = mapSpan(attributes);
    t.ok(['custom', 'http', 'db'].includes(type), JSON.stringify(attributes));
    const shown = [input_tokens, output_tokens, total_tokens, agent_hint];
    t.strictSame(shown, [null, null, null, null], JSON.stringify(attributes));
  }
});
