import t from 'tap';
import { mapRun, type Sending, type SentSpan, type MappedRun } from '../../support/mapped-run.js';

/** A small run in the format of each client, with the result its programmer would expect. */
interface ClientRun extends Sending {
  readonly root: SentSpan;
  readonly expected: Partial<MappedRun>;
}

const BERLIN = { city: 'Berlin' };
const SCHEMA = JSON.stringify({
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
});
const QUESTION = { role: 'user', content: 'weather in Berlin?' };
const ANSWER = { role: 'assistant', content: 'It is sunny.' };
const CALL = { role: 'assistant', tool_calls: [{ id: 'c1', name: 'get_weather', arguments: BERLIN }] };
const MESSAGES_ASKED = JSON.stringify([
  { role: 'user', parts: [{ type: 'text', content: 'weather in Berlin?' }] },
]);
const MESSAGES_ANSWERED = JSON.stringify([
  { role: 'assistant', parts: [{ type: 'text', content: 'It is sunny.' }], finish_reason: 'stop' },
]);

const CLIENTS: Readonly<Record<string, ClientRun>> = {
  'OpenInference of the OpenAI Agents SDK': {
    root: {
      name: 'Customer support',
      code: 1,
      attributes: { 'openinference.span.kind': 'AGENT' },
      children: [
        {
          name: 'Triage agent',
          attributes: { 'openinference.span.kind': 'AGENT', 'agent.name': 'Triage agent' },
          children: [
            {
              name: 'response',
              attributes: {
                'openinference.span.kind': 'LLM',
                'llm.system': 'openai',
                'llm.model_name': 'gpt-4o-mini',
                'llm.token_count.prompt': 120,
                'llm.token_count.completion': 45,
                'llm.token_count.prompt_details.cache_read': 64,
                'llm.token_count.completion_details.reasoning': 16,
              },
            },
            {
              name: 'get_weather',
              attributes: {
                'openinference.span.kind': 'TOOL',
                'tool.name': 'get_weather',
                'input.value': '{"city": "Berlin"}',
                'output.value': 'sunny',
                'tool.parameters': SCHEMA,
              },
            },
          ],
        },
      ],
    },
    expected: {
      agent: 'Customer support',
      calls: [['gpt-4o-mini', 'openai', 120, 45, { cached_read: 64, reasoning: 16 }]],
      tools: [['get_weather', BERLIN, 'sunny']],
    },
  },

  'OpenInference of LangChain': {
    root: {
      name: 'weather_bot',
      attributes: {
        'openinference.span.kind': 'CHAIN',
        'input.value': '{"messages": [{"role": "user", "content": "weather in Berlin?"}]}',
        'output.value':
          '{"messages": [{"type": "human", "data": {"content": "weather in Berlin?"}}, {"type": "ai", "data": {"content": "It is sunny."}}]}',
        'llm.input_messages.0.message.role': 'user',
        'session.id': 'lc-sess',
        metadata: '{"lc_agent_name": "weather_bot", "user_id": "lc-user", "thread_id": "t-1"}',
      },
      children: [
        {
          name: 'ChatOpenAI',
          code: 2,
          message: 'APIError(\'no\')Traceback (most recent call last):\n  File "x.py", line 1',
          attributes: {
            'openinference.span.kind': 'LLM',
            'llm.invocation_parameters': '{"model": "gpt-4o-mini", "temperature": 0.1}',
            metadata: '{"ls_provider": "openai", "ls_model_name": "gpt-4o-mini"}',
          },
        },
        {
          name: 'get_weather',
          attributes: {
            'openinference.span.kind': 'TOOL',
            'tool.name': 'get_weather',
            'input.value': "{'city': 'Berlin'}",
            'output.value':
              '{"type": "tool", "data": {"content": "sunny", "tool_call_id": "c1", "status": "success"}}',
          },
        },
      ],
    },
    expected: {
      agent: 'weather_bot',
      session: 'lc-sess',
      user: 'lc-user',
      calls: [['gpt-4o-mini', 'openai', null, null, null]],
      tools: [['get_weather', BERLIN, 'sunny']],
      question: { messages: [QUESTION] },
      answer: { messages: [QUESTION, ANSWER] },
    },
  },

  'OpenInference of smolagents': {
    root: {
      name: 'weather_agent.run',
      attributes: {
        'openinference.span.kind': 'AGENT',
        'input.value': '{"task": "weather in Berlin?", "stream": false}',
        'output.value': 'It is sunny.',
      },
      children: [
        {
          name: 'SimpleTool',
          attributes: {
            'openinference.span.kind': 'TOOL',
            'tool.name': 'get_weather',
            'tool.parameters': '{"city": {"type": "string", "description": "The city."}}',
            'input.value': '{"args": [], "sanitize_inputs_outputs": true, "kwargs": {"city": "Berlin"}}',
            'output.value': 'sunny',
          },
        },
      ],
    },
    expected: {
      agent: 'weather_agent',
      tools: [['get_weather', BERLIN, 'sunny']],
      question: { task: 'weather in Berlin?', stream: false },
      answer: { value: 'It is sunny.' },
    },
  },

  'OpenLLMetry of the OpenAI Agents SDK': {
    root: {
      name: 'Agent Workflow',
      attributes: { 'traceloop.span.kind': 'workflow', 'traceloop.workflow.name': 'Agent Workflow' },
      children: [
        {
          name: 'Triage agent.agent',
          attributes: {
            'traceloop.span.kind': 'agent',
            'gen_ai.agent.name': 'Triage agent',
            'gen_ai.operation.name': 'invoke_agent',
          },
          children: [
            {
              name: 'openai.response',
              kind: 3,
              attributes: {
                'gen_ai.operation.name': 'chat',
                'gen_ai.provider.name': 'openai',
                'gen_ai.response.model': 'gpt-4o-mini',
                'gen_ai.usage.input_tokens': 120,
                'gen_ai.usage.output_tokens': 45,
                'gen_ai.usage.cache_read.input_tokens': 64,
                'gen_ai.usage.reasoning_tokens': 16,
              },
            },
          ],
        },
      ],
    },
    expected: {
      agent: 'Triage agent',
      calls: [['gpt-4o-mini', 'openai', 120, 45, { cached_read: 64, reasoning: 16 }]],
    },
  },

  'OpenLLMetry of LangChain': {
    root: {
      name: 'LangGraph.workflow',
      attributes: {
        'traceloop.span.kind': 'workflow',
        'traceloop.workflow.name': 'LangGraph',
        'traceloop.association.properties.thread_id': 't-1',
        'traceloop.entity.input':
          '{"inputs": {"messages": [{"lc": 1, "type": "constructor", "id": ["HumanMessage"], "kwargs": {"content": "weather in Berlin?", "type": "human"}}]}, "tags": [], "metadata": {}, "kwargs": {"name": "LangGraph"}}',
        'traceloop.entity.output':
          '{"outputs": {"messages": [{"lc": 1, "type": "constructor", "id": ["AIMessage"], "kwargs": {"content": "It is sunny.", "type": "ai"}}]}, "kwargs": {}}',
      },
      children: [
        {
          name: 'get_weather.tool',
          attributes: {
            'traceloop.span.kind': 'tool',
            'traceloop.entity.name': 'get_weather',
            'traceloop.workflow.name': 'LangGraph',
            'traceloop.entity.input':
              '{"input_str": "{\'city\': \'Berlin\'}", "tags": [], "metadata": {}, "inputs": {"city": "Berlin"}, "kwargs": {}}',
            'traceloop.entity.output':
              '{"output": {"lc": 1, "type": "constructor", "id": ["ToolMessage"], "kwargs": {"content": "sunny", "type": "tool"}}, "kwargs": {}}',
          },
        },
      ],
    },
    expected: {
      agent: 'svc',
      session: 't-1',
      tools: [['get_weather', BERLIN, 'sunny']],
      question: { messages: [QUESTION] },
      answer: { messages: [ANSWER] },
    },
  },

  'Vercel AI SDK': {
    root: {
      name: 'ai.generateText',
      attributes: {
        'ai.operationId': 'ai.generateText',
        'ai.telemetry.functionId': 'weather-fn',
        'ai.telemetry.metadata.sessionId': 'v-sess',
        'ai.telemetry.metadata.userId': 'v-user',
        'ai.telemetry.metadata.tags': ['x'],
        'ai.prompt': '{"system": "Be nice", "prompt": "weather in Berlin?"}',
        'ai.response.text': 'It is sunny.',
      },
      children: [
        {
          name: 'ai.generateText.doGenerate',
          attributes: {
            'ai.operationId': 'ai.generateText.doGenerate',
            'ai.model.id': 'gpt-4o-mini',
            'gen_ai.system': 'openai.chat',
            'ai.response.providerMetadata': '{"openai": {"reasoningTokens": 16, "cachedPromptTokens": 64}}',
            'gen_ai.usage.input_tokens': 120,
            'gen_ai.usage.output_tokens': 45,
          },
        },
        {
          name: 'ai.toolCall',
          attributes: {
            'ai.operationId': 'ai.toolCall',
            'ai.toolCall.name': 'get_weather',
            'ai.toolCall.args': '{"city":"Berlin"}',
            'ai.toolCall.result': '"sunny"',
          },
        },
      ],
    },
    expected: {
      agent: 'weather-fn',
      session: 'v-sess',
      user: 'v-user',
      tags: ['x'],
      calls: [['gpt-4o-mini', 'openai.chat', 120, 45, { cached_read: 64, reasoning: 16 }]],
      tools: [['get_weather', BERLIN, 'sunny']],
      question: { messages: [{ role: 'system', content: 'Be nice' }, QUESTION] },
      answer: { messages: [ANSWER] },
    },
  },

  'Vercel AI SDK 7': {
    scope: 'gen_ai',
    root: {
      name: 'invoke_agent gpt-4o-mini',
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.provider.name': 'openai',
        'gen_ai.request.model': 'gpt-4o-mini',
        'gen_ai.agent.name': 'weather-fn',
        'ai.settings.context.userId': 'v-user',
        'gen_ai.system_instructions': '[{"type":"text","content":"Be nice"}]',
        'gen_ai.input.messages': MESSAGES_ASKED,
        'gen_ai.output.messages': MESSAGES_ANSWERED,
        'gen_ai.usage.input_tokens': 120,
        'gen_ai.usage.output_tokens': 45,
      },
      children: [
        {
          name: 'step 1',
          attributes: { 'gen_ai.operation.name': 'agent_step' },
          children: [
            {
              name: 'chat gpt-4o-mini',
              kind: 3,
              attributes: {
                'gen_ai.operation.name': 'chat',
                'gen_ai.provider.name': 'openai',
                'gen_ai.request.model': 'gpt-4o-mini',
                'gen_ai.usage.input_tokens': 120,
                'gen_ai.usage.output_tokens': 45,
                'gen_ai.usage.cache_read.input_tokens': 64,
                'ai.usage.outputTokenDetails.reasoningTokens': 16,
              },
            },
            {
              name: 'execute_tool get_weather',
              attributes: {
                'gen_ai.operation.name': 'execute_tool',
                'gen_ai.tool.name': 'get_weather',
                'gen_ai.tool.call.arguments': '{"city":"Berlin"}',
                'gen_ai.tool.call.result': '"sunny"',
              },
            },
          ],
        },
      ],
    },
    expected: {
      agent: 'weather-fn',
      user: 'v-user',
      calls: [['gpt-4o-mini', 'openai', 120, 45, { cached_read: 64, reasoning: 16 }]],
      tools: [['get_weather', BERLIN, 'sunny']],
      question: { messages: [QUESTION], system: [{ type: 'text', content: 'Be nice' }] },
      answer: { messages: [{ ...ANSWER, finish_reason: 'stop' }] },
    },
  },

  'OpenInference of CrewAI': {
    root: {
      name: 'Travel.kickoff',
      attributes: { 'openinference.span.kind': 'CHAIN', 'output.value': 'It is sunny.' },
      children: [
        {
          name: 'Guide._execute_core',
          attributes: { 'openinference.span.kind': 'AGENT', 'graph.node.id': 'Guide' },
          children: [
            {
              name: 'get_weather._use',
              attributes: {
                'openinference.span.kind': 'TOOL',
                'tool.name': '',
                'input.value':
                  '{"tool_string": "Action: get_weather", "tool": "CrewStructuredTool(name=get_weather)", "calling": {"tool_name": "get_weather", "arguments": {"city": "Berlin"}}}',
                'output.value': 'sunny',
              },
            },
          ],
        },
      ],
    },
    expected: {
      agent: 'Travel',
      tools: [['get_weather', BERLIN, 'sunny']],
      answer: { value: 'It is sunny.' },
    },
  },

  'Vercel AI SDK, a call that answers with a tool': {
    root: {
      name: 'ai.generateText.doGenerate',
      attributes: {
        'ai.operationId': 'ai.generateText.doGenerate',
        'ai.prompt.messages': '[{"role":"user","content":[{"type":"text","text":"weather in Berlin?"}]}]',
        'ai.response.toolCalls':
          '[{"toolCallType":"function","toolCallId":"c1","toolName":"get_weather","args":"{\\"city\\": \\"Berlin\\"}"}]',
      },
    },
    expected: { question: { messages: [QUESTION] }, answer: { messages: [CALL] } },
  },

  Langfuse: {
    root: {
      name: 'weather-agent',
      attributes: {
        'langfuse.observation.type': 'agent',
        'langfuse.trace.name': 'Weather question',
        'session.id': 'lf-sess',
        'user.id': 'lf-user',
        'langfuse.trace.tags': ['a', 'b'],
        'langfuse.observation.input': '{"args": ["weather in Berlin?"], "kwargs": {}}',
        'langfuse.observation.output': 'It is sunny.',
      },
      children: [
        {
          name: 'plan',
          attributes: {
            'langfuse.observation.type': 'generation',
            'langfuse.observation.model.name': 'gpt-4o-mini',
            'langfuse.observation.usage_details':
              '{"completion_tokens": 45, "prompt_tokens": 120, "total_tokens": 165, "completion_tokens_details": {"reasoning_tokens": 16}, "prompt_tokens_details": {"cached_tokens": 64}}',
          },
        },
        {
          name: 'get_weather',
          attributes: {
            'langfuse.observation.type': 'tool',
            'langfuse.observation.input': '{"args": [], "kwargs": {"city": "Berlin"}}',
            'langfuse.observation.output': 'sunny',
          },
        },
      ],
    },
    expected: {
      agent: 'weather-agent',
      session: 'lf-sess',
      user: 'lf-user',
      tags: ['a', 'b'],
      calls: [['gpt-4o-mini', null, 120, 45, { cached_read: 64, reasoning: 16 }]],
      tools: [['get_weather', BERLIN, 'sunny']],
      answer: { value: 'It is sunny.' },
    },
  },

  'Strands Agents': {
    scope: 'strands.telemetry.tracer',
    root: {
      name: 'invoke_agent weather-strand',
      code: 1,
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': 'weather-strand',
        'session.id': 'st-sess',
        'user.id': 'st-user',
        'langfuse.tags': ['x'],
      },
      events: [
        { name: 'gen_ai.user.message', attributes: { content: '[{"text": "weather in Berlin?"}]' } },
        { name: 'gen_ai.choice', attributes: { message: 'It is sunny.', finish_reason: 'end_turn' } },
      ],
      children: [
        {
          name: 'execute_tool get_weather',
          code: 1,
          attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'get_weather' },
          events: [
            {
              name: 'gen_ai.tool.message',
              attributes: { role: 'tool', content: '{"city": "Berlin"}', id: 'c1' },
            },
            { name: 'gen_ai.choice', attributes: { message: '[{"text": "sunny"}]', id: 'c1' } },
          ],
        },
      ],
    },
    expected: {
      agent: 'weather-strand',
      session: 'st-sess',
      user: 'st-user',
      tags: ['x'],
      tools: [['get_weather', BERLIN, 'sunny']],
      question: { messages: [QUESTION] },
      answer: { messages: [{ ...ANSWER, finish_reason: 'end_turn' }] },
    },
  },

  'Google ADK 1': {
    scope: 'gcp.vertex.agent',
    root: {
      name: 'invocation',
      children: [
        {
          name: 'agent_run [weather_adk]',
          children: [
            {
              name: 'call_llm',
              attributes: {
                'gen_ai.system': 'gcp.vertex.agent',
                'gen_ai.request.model': 'gemini-2.5-flash',
                'gcp.vertex.agent.session_id': 'adk-sess',
                'gcp.vertex.agent.llm_response':
                  '{"content": {"parts": [{"text": "It is sunny."}], "role": "model"}, "usage_metadata": {"cached_content_token_count": 64, "candidates_token_count": 29, "prompt_token_count": 120, "thoughts_token_count": 16, "total_token_count": 165}}',
                'gen_ai.usage.input_tokens': 120,
                'gen_ai.usage.output_tokens': 29,
              },
            },
            { name: 'call_llm', code: 2, message: 'ClientError: 400' },
            {
              name: 'execute_tool get_weather',
              attributes: {
                'gen_ai.operation.name': 'execute_tool',
                'gen_ai.tool.name': 'get_weather',
                'gcp.vertex.agent.tool_call_args': '{"city": "Berlin"}',
                'gcp.vertex.agent.tool_response': '{"weather": "sunny"}',
                'gcp.vertex.agent.llm_request': '{}',
              },
            },
          ],
        },
      ],
    },
    expected: {
      agent: 'weather_adk',
      session: 'adk-sess',
      calls: [
        ['gemini-2.5-flash', 'gcp.vertex.agent', 120, 45, { cached_read: 64, reasoning: 16 }],
        [null, null, null, null, null],
      ],
      tools: [['get_weather', BERLIN, { weather: 'sunny' }]],
    },
  },

  LiteLLM: {
    root: {
      name: 'litellm_request',
      attributes: {
        'metadata.user_api_key_user_id': '',
        'llm.user': 'end-user-1',
        'gen_ai.operation.name': 'chat',
        'gen_ai.system': 'openai',
        'gen_ai.request.model': 'gpt-4o-mini',
        'gen_ai.usage.input_tokens': 120,
        'gen_ai.usage.output_tokens': 45,
        'gen_ai.input.messages': MESSAGES_ASKED,
        'gen_ai.output.messages': '[{"role": "assistant", "parts": [], "finish_reason": "tool_calls"}]',
        'gen_ai.completion.0.function_call.arguments': '{"city": "Berlin"}',
        'gen_ai.completion.0.function_call.name': 'get_weather',
      },
    },
    expected: {
      agent: 'svc',
      user: 'end-user-1',
      calls: [['gpt-4o-mini', 'openai', 120, 45, null]],
      question: { messages: [QUESTION] },
      answer: {
        messages: [{ role: 'assistant', tool_calls: [{ name: 'get_weather', arguments: BERLIN }] }],
      },
    },
  },

  'OpenLIT of LangGraph': {
    root: {
      name: 'invoke_workflow weather_bot',
      attributes: {
        'gen_ai.operation.name': 'invoke_workflow',
        'gen_ai.workflow.name': 'weather_bot',
        'gen_ai.conversation.id': 't-1',
        'gen_ai.workflow.input': '{"messages": [{"role": "user", "content": "weather in Berlin?"}]}',
        'gen_ai.output.messages': MESSAGES_ANSWERED,
      },
      children: [
        {
          name: 'invoke_agent model',
          attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'model' },
          children: [
            {
              name: 'execute_tool get_weather',
              attributes: {
                'gen_ai.operation.name': 'execute_tool',
                'gen_ai.tool.name': 'get_weather',
                'gen_ai.tool.call.arguments': "{'city': 'Berlin'}",
                'gen_ai.tool.call.result': "content='sunny' name='get_weather' tool_call_id='c1'",
              },
            },
          ],
        },
      ],
    },
    expected: {
      agent: 'weather_bot',
      session: 't-1',
      tools: [['get_weather', BERLIN, 'sunny']],
      question: { messages: [QUESTION] },
      answer: { messages: [{ ...ANSWER, finish_reason: 'stop' }] },
    },
  },

  'OpenLIT of Anthropic, which counts the cache beside the input': {
    scope: 'openlit.instrumentation.anthropic',
    root: {
      name: 'chat claude-sonnet-4-5',
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'anthropic',
        'gen_ai.request.model': 'claude-sonnet-4-5',
        'gen_ai.usage.input_tokens': 56,
        'gen_ai.usage.output_tokens': 45,
        'gen_ai.usage.cache_read.input_tokens': 14,
        'gen_ai.usage.cache_creation.input_tokens': 20,
      },
    },
    expected: {
      calls: [['claude-sonnet-4-5', 'anthropic', 90, 45, { cached_read: 14, cached_write: 20 }]],
    },
  },

  'LangSmith over OTLP': {
    root: {
      name: 'LangGraph',
      attributes: {
        'langsmith.span.kind': 'chain',
        'langsmith.metadata.lc_agent_name': 'weather_bot',
        'langsmith.metadata.thread_id': 't-1',
        'langsmith.metadata.user_id': 'ls-user',
        'langsmith.span.tags': 'a, b',
        'gen_ai.prompt': '{"messages": [{"role": "user", "content": "weather in Berlin?"}]}',
        'gen_ai.completion':
          '{"messages": [{"lc": 1, "type": "constructor", "id": ["AIMessage"], "kwargs": {"content": "It is sunny.", "type": "ai"}}]}',
      },
      children: [
        {
          name: 'get_weather',
          attributes: {
            'langsmith.span.kind': 'tool',
            'gen_ai.prompt': '{"input": "{\'city\': \'Berlin\'}"}',
            'gen_ai.completion': '{"output": {"content": "sunny", "type": "tool", "tool_call_id": "c1"}}',
          },
        },
      ],
    },
    expected: {
      agent: 'weather_bot',
      session: 't-1',
      user: 'ls-user',
      tags: ['a', 'b'],
      tools: [['get_weather', BERLIN, 'sunny']],
      question: { messages: [QUESTION] },
      answer: { messages: [ANSWER] },
    },
  },

  'Pydantic AI and Logfire': {
    root: {
      name: 'weather_agent run',
      attributes: {
        agent_name: 'weather_agent',
        'logfire.tags': ['LLM', 'x'],
        'pydantic_ai.all_messages':
          '[{"role": "user", "parts": [{"type": "text", "content": "weather in Berlin?"}]}, {"role": "assistant", "parts": [{"type": "text", "content": "It is sunny."}]}]',
        final_result: 'It is sunny.',
      },
      children: [
        {
          name: 'running tool',
          attributes: {
            'gen_ai.tool.name': 'get_weather',
            tool_arguments: '{"city":"Berlin"}',
            tool_response: 'sunny',
          },
        },
      ],
    },
    expected: {
      agent: 'weather_agent',
      tags: ['x'],
      tools: [['get_weather', BERLIN, 'sunny']],
      question: { messages: [QUESTION] },
      answer: { messages: [ANSWER] },
    },
  },

  'a web service': {
    service: 'shop',
    root: {
      name: 'GET /orders',
      kind: 2,
      attributes: { 'http.request.method': 'GET', 'session.id': 'sess-1', 'user.id': 'u-1' },
      children: [
        {
          name: 'GET',
          kind: 3,
          code: 2,
          attributes: { 'http.request.method': 'GET', 'http.response.status_code': 503 },
        },
      ],
    },
    expected: { agent: 'shop', status: 'completed', session: 'sess-1', user: 'u-1', calls: [], tools: [] },
  },
};

for (const [client, { root, expected: reported, ...sending }] of Object.entries(CLIENTS))
  void t.test(`maps a run of ${client}`, async (t) => {
    const run = mapRun(root, sending);
    for (const key of Object.keys(reported) as (keyof MappedRun)[])
      t.strictSame(run[key], reported[key], key);
  });

void t.test('unwraps nested JSON in texts and messages', async (t) => {
  const span = (attributes: SentSpan['attributes']): SentSpan => ({
    name: 'x',
    attributes: { ...attributes },
  });
  const twice = (value: unknown): string => JSON.stringify(JSON.stringify(value));
  t.strictSame(mapRun(span({ 'input.value': twice('sunny') })).question, { value: 'sunny' });
  t.strictSame(mapRun(span({ 'input.value': twice({ a: 1 }) })).question, { a: 1 });
  t.strictSame(mapRun(span({ 'gen_ai.input.messages': twice([QUESTION]) })).question, {
    messages: [QUESTION],
  });
  t.strictSame(mapRun(span({ 'input.value': '"open' })).question, { value: '"open' });
});
