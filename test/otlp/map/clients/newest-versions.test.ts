import t from 'tap';
import { toKeyValues } from '../../../../src/otlp/encode/value.js';
import type { JsonObject } from '../../../../src/signal/attributes.js';
import { mapRun, type MappedRun, type Sending, type SentSpan } from '../../../support/mapped-run.js';
import { mapSpan, mapSpans, ROOT } from '../../../support/mapped-span.js';
import { aSpan, tracesOf } from '../../../support/otlp-requests.js';

interface ClientRun extends Sending {
  readonly root: SentSpan;
  readonly expected: Partial<MappedRun>;
}

const BERLIN = { city: 'Berlin' };
const messages = (...list: readonly JsonObject[]) => JSON.stringify(list);
const text = (role: string, content: string, others: JsonObject = {}): JsonObject => ({
  role,
  parts: [{ type: 'text', content }],
  ...others,
});
const tool = (name: string, others: JsonObject = {}): SentSpan => ({
  name: `execute_tool ${name}`,
  attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': name, ...others },
});

/** What programs written with the newest versions of these clients sent, with what their authors expect. */
const CLIENTS: Readonly<Record<string, ClientRun>> = {
  'Google ADK 2.13: a workflow, parallel tools and a streamed answer': {
    scope: 'gcp.vertex.agent',
    root: {
      name: 'invoke_workflow weather_adk',
      attributes: {
        'gen_ai.operation.name': 'invoke_workflow',
        'gen_ai.workflow.name': 'weather_adk',
        'gen_ai.conversation.id': 'adk-sess',
      },
      children: [
        tool('get_weather', { 'gen_ai.tool.type': 'FunctionTool' }),
        tool('add', { 'gen_ai.tool.type': 'FunctionTool' }),
        {
          ...tool('(merged tools)', { 'gen_ai.tool.description': '(merged tools)' }),
          name: 'execute_tool (merged)',
        },
        {
          name: 'generate_content gemini-2.5-flash',
          attributes: {
            'gen_ai.operation.name': 'generate_content',
            'gen_ai.request.model': 'gemini-2.5-flash',
            'gen_ai.provider.name': 'gcp.gemini',
            'gen_ai.usage.input_tokens': 160,
            'gen_ai.usage.output_tokens': 30,
            'gen_ai.usage.cache_read.input_tokens': 64,
            'gen_ai.usage.reasoning.output_tokens': 16,
          },
        },
      ],
    },
    expected: {
      agent: 'weather_adk',
      session: 'adk-sess',
      calls: [['gemini-2.5-flash', 'gcp.gemini', 160, 30, { cached_read: 64, reasoning: 16 }]],
      tools: [
        ['get_weather', null, null],
        ['add', null, null],
      ],
    },
  },

  'BeeAI 0.1.85: events are spans of the kind of their sender': {
    root: {
      name: 'weather_bee',
      attributes: { 'openinference.span.kind': 'AGENT', 'metadata.class_name': 'RequirementAgent' },
      children: [
        {
          name: 'OpenAIChatModel',
          attributes: { 'openinference.span.kind': 'LLM', 'llm.model_name': 'gpt-4o-mini' },
          children: [
            {
              name: 'error',
              attributes: {
                'openinference.span.kind': 'LLM',
                'metadata.path': 'backend.openai.chat.error',
                'input.value': '{"error": "Chat Model error"}',
              },
            },
          ],
        },
        {
          name: 'final_answer',
          attributes: { 'openinference.span.kind': 'TOOL', 'tool.name': 'final_answer' },
        },
      ],
    },
    expected: {
      agent: 'weather_bee',
      calls: [['gpt-4o-mini', null, null, null, null]],
      tools: [['final_answer', null, null]],
    },
  },

  'CrewAI 1.15 (OpenInference 1.1): an unnamed flow, and an agent named with its task': {
    root: {
      name: 'Flow_4d5b2186-7b63-8a18-46a3-8dc4af8e29a4.kickoff',
      attributes: { 'openinference.span.kind': 'CHAIN' },
      children: [
        {
          name: 'Guide.answer._execute_core',
          attributes: { 'openinference.span.kind': 'AGENT', 'graph.node.id': 'Guide' },
        },
      ],
    },
    expected: { agent: 'Guide' },
  },

  'Strands Agents 1.62: tags of the trace': {
    scope: 'strands.telemetry.tracer',
    root: {
      name: 'invoke_agent weather_strands',
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': 'weather_strands',
        'session.id': 's-1',
        'user.id': 'u-1',
        tags: ['prod', 'eu'],
      },
    },
    expected: { agent: 'weather_strands', session: 's-1', user: 'u-1', tags: ['prod', 'eu'] },
  },

  'VoltAgent 2.10: a workflow': {
    scope: '@voltagent/core',
    root: {
      name: 'workflow.trip',
      attributes: { 'entity.type': 'workflow', 'entity.name': 'trip', input: '{"q": "weather?"}' },
      children: [
        {
          name: 'llm:generateText',
          attributes: {
            'span.type': 'llm',
            'llm.model': 'gpt-4o-mini',
            'llm.usage.prompt_tokens': 120,
            'llm.usage.completion_tokens': 45,
          },
        },
      ],
    },
    expected: { agent: 'trip', calls: [['gpt-4o-mini', null, 120, 45, null]], question: { q: 'weather?' } },
  },

  'OpenAI Agents by the official instrumentation: items printed by Python': {
    root: {
      name: 'invoke_agent weather',
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': 'weather',
        'gen_ai.input.messages': messages(
          text('assistant', "{'annotations': [], 'text': 'It\\'s sunny.', 'type': 'output_text'}"),
          text('user', "{'city': 'Berlin'}"),
        ),
        'gen_ai.output.messages': messages(
          text(
            'assistant',
            `ResponseFunctionToolCall(arguments='{"city":"Berlin"}', call_id='c1', name='get_weather', type='function_call', id='fc_1', status='completed')`,
          ),
        ),
      },
    },
    expected: {
      question: {
        messages: [
          { role: 'assistant', content: "It's sunny." },
          { role: 'user', content: "{'city': 'Berlin'}" },
        ],
      },
      answer: {
        messages: [{ role: 'assistant', tool_calls: [{ id: 'c1', name: 'get_weather', arguments: BERLIN }] }],
      },
    },
  },

  'traceAI 0.1.10: flattened lists of messages': {
    root: {
      name: 'ChatCompletion',
      attributes: {
        'gen_ai.span.kind': 'LLM',
        'gen_ai.request.model': 'gpt-4o-mini',
        'gen_ai.usage.input_tokens': 140,
        'gen_ai.usage.output_tokens': 45,
        'input.value': 'You help.',
        'output.value': 'Function: get_weather({"city":"Berlin"})',
        'gen_ai.input.messages.0.message.role': 'system',
        'gen_ai.input.messages.0.message.content': 'You help.',
        'gen_ai.input.messages.1.message.role': 'user',
        'gen_ai.input.messages.1.message.content': 'weather?',
        'gen_ai.output.messages.0.message.role': 'assistant',
        'gen_ai.output.messages.0.message.tool_calls.0.tool_call.id': 'c1',
        'gen_ai.output.messages.0.message.tool_calls.0.tool_call.function.name': 'get_weather',
        'gen_ai.output.messages.0.message.tool_calls.0.tool_call.function.arguments': '{"city":"Berlin"}',
      },
    },
    expected: {
      calls: [['gpt-4o-mini', null, 140, 45, null]],
      question: {
        messages: [
          { role: 'system', content: 'You help.' },
          { role: 'user', content: 'weather?' },
        ],
      },
      answer: {
        messages: [{ role: 'assistant', tool_calls: [{ id: 'c1', name: 'get_weather', arguments: BERLIN }] }],
      },
    },
  },

  'Judgeval 1.6: tokens beside the cache, and the usage of the provider': {
    scope: 'judgeval',
    root: {
      name: 'weather_jv',
      attributes: {
        'judgment.span_kind': 'agent',
        'judgment.input': '{"q": "weather?"}',
        'judgment.output': 'It is sunny.',
        'judgment.session_id': 's-1',
      },
      children: [
        {
          name: 'OPENAI_API_CALL',
          attributes: {
            'judgment.span_kind': 'llm',
            'judgment.llm.model': 'gpt-4o-mini',
            'judgment.usage.non_cached_input_tokens': 76,
            'judgment.usage.cache_read_input_tokens': 64,
            'judgment.usage.output_tokens': 45,
            'judgment.usage.metadata': '{"completion_tokens_details": {"reasoning_tokens": 16}}',
          },
        },
      ],
    },
    expected: {
      agent: 'weather_jv',
      session: 's-1',
      calls: [['gpt-4o-mini', null, 140, 45, { cached_read: 64, reasoning: 16 }]],
      question: { q: 'weather?' },
      answer: { value: 'It is sunny.' },
    },
  },

  'HoneyHive 1.7: inputs and outputs by name': {
    service: '',
    scope: 'honeyhive.1',
    root: {
      name: 'weather_hh',
      attributes: {
        honeyhive_event_type: 'chain',
        'honeyhive.session_id': 's-1',
        'honeyhive_inputs.q': 'weather?',
        'honeyhive_outputs.result': 'It is sunny.',
      },
      children: [
        {
          name: 'call',
          attributes: {
            honeyhive_event_type: 'model',
            'honeyhive_metadata.model': 'gpt-4o-mini',
            'honeyhive_outputs.text': 'hi',
          },
        },
        {
          name: 'get_weather',
          attributes: {
            honeyhive_event_type: 'tool',
            'honeyhive_inputs.city': 'Berlin',
            'honeyhive_outputs.result': 'sunny',
          },
        },
      ],
    },
    expected: {
      agent: 'weather_hh',
      session: 's-1',
      calls: [['gpt-4o-mini', null, null, null, null]],
      tools: [['get_weather', BERLIN, 'sunny']],
      question: { q: 'weather?' },
      answer: { value: 'It is sunny.' },
    },
  },

  'AgentOps 0.4.21: sessions, and calls that a model asks for': {
    service: 'agentops',
    scope: 'agentops',
    root: {
      name: 'weather.session',
      attributes: {
        'agentops.span.kind': 'session',
        'agentops.tags': ['prod'],
        'agentops.entity.input': '{"args": ["weather?"], "kwargs": {}}',
      },
      children: [
        {
          name: 'planner.agent',
          attributes: { 'agentops.span.kind': 'agent' },
          children: [
            {
              name: 'tool_call.get_weather',
              attributes: {
                'agentops.span.kind': 'AgentOpsSpanKindValues.TOOL',
                'tool.name': 'get_weather',
                'tool.parameters': '{"city":"Berlin"}',
              },
            },
            {
              name: 'get_weather.tool',
              attributes: {
                'agentops.span.kind': 'tool',
                'agentops.tool.input': '{"args": [], "kwargs": {"city": "Berlin"}}',
                'agentops.tool.output': 'sunny',
              },
            },
          ],
        },
      ],
    },
    expected: {
      agent: 'weather',
      tags: ['prod'],
      calls: [],
      tools: [['get_weather', BERLIN, 'sunny']],
    },
  },

  'Netra 1.2: a call in the text of the assistant, and the finish reason by itself': {
    root: {
      name: 'openai.chat',
      attributes: {
        'gen_ai.request.model': 'gpt-4o-mini',
        'llm.request.type': 'chat',
        'gen_ai.completion.0.role': 'assistant',
        'gen_ai.completion.0.content': '{"name": "get_weather", "arguments": "{\\"city\\":\\"Berlin\\"}"}',
        'gen_ai.completion.0.tool_call_id': 'c1',
        'gen_ai.completion.1.finish_reason': 'tool_calls',
      },
    },
    expected: {
      answer: {
        messages: [
          {
            role: 'assistant',
            tool_calls: [{ id: 'c1', name: 'get_weather', arguments: BERLIN }],
            finish_reason: 'tool_calls',
          },
        ],
      },
    },
  },

  'Vercel AI SDK 7: all steps of an agent in one message': {
    root: {
      name: 'invoke_agent gpt-4o-mini',
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.output.messages': messages({
          role: 'assistant',
          parts: [
            { type: 'text', content: 'It is 5.' },
            { type: 'tool_call', id: 'c1', name: 'add', arguments: { a: 2, b: 3 } },
            { type: 'tool_call_response', id: 'c1', response: 5 },
          ],
          finish_reason: 'stop',
        }),
      },
    },
    expected: {
      answer: {
        messages: [
          { role: 'assistant', tool_calls: [{ id: 'c1', name: 'add', arguments: { a: 2, b: 3 } }] },
          { role: 'tool', tool_call_id: 'c1', content: '5' },
          { role: 'assistant', content: 'It is 5.', finish_reason: 'stop' },
        ],
      },
    },
  },
};

for (const [name, { root, expected, ...sending }] of Object.entries(CLIENTS))
  void t.test(name, async (t) => {
    const found = mapRun(root, sending);
    for (const key of Object.keys(expected) as (keyof MappedRun)[])
      t.strictSame(found[key], expected[key], key);
  });

void t.test('chunks of a streamed answer are one message, choices and items are not', async (t) => {
  const answerOf = (...sent: readonly JsonObject[]) =>
    mapSpan({ 'gen_ai.operation.name': 'chat', 'gen_ai.output.messages': messages(...sent) }).output_data
      ?.messages;
  const stop = { finish_reason: 'stop' };
  const chunk = text('assistant', 'It is ', { finish_reason: '' });
  t.strictSame(answerOf(chunk, text('assistant', 'sunny.', stop)), [
    { role: 'assistant', content: 'It is sunny.', ...stop },
  ]);
  const call = { type: 'tool_call', id: 'c1', name: 'add', arguments: { a: 1 } };
  t.strictSame(answerOf(chunk, { role: 'assistant', parts: [call], finish_reason: 'tool_call' }), [
    {
      role: 'assistant',
      content: 'It is ',
      tool_calls: [{ id: 'c1', name: 'add', arguments: { a: 1 } }],
      finish_reason: 'tool_call',
    },
  ]);
  t.strictSame(answerOf(text('assistant', 'One.', stop), text('assistant', 'Two.', stop)), [
    { role: 'assistant', content: 'One.', ...stop },
    { role: 'assistant', content: 'Two.', ...stop },
  ]);
  t.strictSame(answerOf(text('assistant', 'Let me see.'), text('assistant', 'It is sunny.')), [
    { role: 'assistant', content: 'Let me see.' },
    { role: 'assistant', content: 'It is sunny.' },
  ]);
});

void t.test('parts of the usage under any prefix are not the whole', async (t) => {
  const { input_tokens, output_tokens, call } = mapSpan({
    'gen_ai.operation.name': 'invoke_agent',
    'acme.aggregated_usage.input_tokens': 320,
    'acme.aggregated_usage.cache_read.input_tokens': 128,
    'acme.aggregated_usage.output_tokens': 75,
    'acme.aggregated_usage.reasoning.output_tokens': 32,
  });
  t.strictSame([input_tokens, output_tokens], [320, 75]);
  t.strictSame(call?.usage, { cached_read: 128, reasoning: 32 });
});

void t.test(
  'clients that pass on the figures of providers count caches of Claude and Bedrock beside the input',
  async (t) => {
    const tokensOf = (scope: string, model: string) => {
      const { calls } = mapRun(
        {
          name: 'chat',
          attributes: {
            'gen_ai.operation.name': 'chat',
            'gen_ai.request.model': model,
            'gen_ai.usage.input_tokens': 96,
            'gen_ai.usage.output_tokens': 30,
            'gen_ai.usage.cache_read.input_tokens': 44,
            'gen_ai.usage.cache_creation.input_tokens': 20,
          },
        },
        { scope },
      );
      return calls[0]?.[2];
    };
    t.equal(tokensOf('agent_framework', 'claude-sonnet-4-5'), 160);
    t.equal(tokensOf('agent_framework', 'gpt-4o-mini'), 96);
    t.equal(tokensOf('openinference.instrumentation.agno', 'anthropic/claude-sonnet-4-5'), 160);
    t.equal(tokensOf('opentelemetry.instrumentation.botocore.bedrock-runtime', 'amazon.nova-lite-v1:0'), 160);
    t.equal(tokensOf('llamaindex.opentelemetry.tracer', 'claude-sonnet-4-5'), 160);
    t.equal(tokensOf('other', 'claude-sonnet-4-5'), 96);
  },
);

void t.test('a request for the number of tokens is no model call', async (t) => {
  const attributes = { 'gen_ai.request.model': 'claude-sonnet-4-5', 'gen_ai.provider.name': 'anthropic' };
  const { calls } = mapRun({
    name: 'a',
    children: [
      { name: 'anthropic.messages.count_tokens', attributes },
      { name: 'anthropic.messages.create', attributes },
    ],
  });
  t.equal(calls.length, 1);
});

void t.test('running totals of an agent count neither as tokens nor as their parts', async (t) => {
  const attributes = {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.usage.input_tokens': 500,
    'gen_ai.usage.cache_read_input_tokens': 256,
  };
  const span = aSpan(1, { ...ROOT, attributes: toKeyValues(attributes) });
  const { resourceSpans } = tracesOf(span);
  const [resource] = resourceSpans ?? [];
  const spans = mapSpans({
    resourceSpans: [
      { ...resource, scopeSpans: [{ scope: { name: 'strands.telemetry.tracer' }, spans: [span] }] },
    ],
  }).batch.items.flatMap((run) => run.spans);
  t.strictSame(
    spans.map(({ input_tokens, call }) => [input_tokens, call]),
    [[null, null]],
  );
});
