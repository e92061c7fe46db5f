import t from 'tap';
import { mapRun, type MappedRun, type Sending, type SentSpan } from '../../../support/mapped-run.js';

/** Runs in the shape of clients with a convention of their own, with what their programmers expect. */
interface ClientRun extends Sending {
  readonly root: SentSpan;
  readonly expected: Partial<MappedRun>;
}

const BERLIN = { city: 'Berlin' };
const QUESTION = { role: 'user', content: 'weather?' };
const ANSWER = { role: 'assistant', content: 'It is sunny.' };
const CALL = { role: 'assistant', tool_calls: [{ id: 'c1', name: 'get_weather', arguments: BERLIN }] };
const PARTS = { cached_read: 64, reasoning: 16 };

const CLIENTS: Readonly<Record<string, ClientRun>> = {
  'Haystack without its contents, with a failed tool': {
    scope: 'my_application',
    root: {
      name: 'haystack.agent.run',
      children: [
        { name: 'haystack.agent.step.llm' },
        {
          name: 'haystack.agent.step.tool',
          attributes: {
            'haystack.tool.name': 'get_weather',
            'haystack.tool.error': true,
            'haystack.agent.step.tool.output': '{"error": "no"}',
          },
        },
        {
          name: 'haystack.component.run',
          attributes: {
            'haystack.component.type': 'InMemoryBM25Retriever',
            'haystack.component.name': 'docs',
          },
        },
      ],
    },
    expected: {
      agent: 'svc',
      calls: [[null, null, null, null, null]],
      tools: [
        ['get_weather', null, { error: 'no' }],
        ['docs', null, null],
      ],
    },
  },

  'Haystack with an input printed by Python': {
    root: {
      name: 'haystack.agent.run',
      attributes: {
        'haystack.agent.input':
          "{'messages': [ChatMessage(_role=<ChatRole.USER: 'user'>, _content=[TextContent(text=\"what's up?\")], _name=None, _meta={}), ChatMessage(_role=<ChatRole.ASSISTANT: 'assistant'>, _content=[ToolCall(tool_name='get_weather', arguments={'city': 'Berlin'}, id='c1', extra=None)], _name=None, _meta={}), ChatMessage(_role=<ChatRole.TOOL: 'tool'>, _content=[ToolCallResult(result='sunny', origin=ToolCall(tool_name='get_weather', arguments={'city': 'Berlin'}, id='c1', extra=None), error=False)], _name=None, _meta={})], 'streaming_callback': <function cb at 0x7f3f>}",
      },
      children: [
        {
          name: 'haystack.component.run',
          attributes: {
            'haystack.component.type': 'OpenAIChatGenerator',
            'haystack.component.output': JSON.stringify({
              replies: [
                {
                  role: 'assistant',
                  content: [{ text: 'It is sunny.' }],
                  meta: {
                    model: 'gpt-4o-mini',
                    usage: {
                      prompt_tokens: 120,
                      completion_tokens: 45,
                      prompt_tokens_details: { cached_tokens: 64 },
                      completion_tokens_details: { reasoning_tokens: 16 },
                    },
                  },
                },
              ],
            }),
          },
        },
      ],
    },
    expected: {
      calls: [['gpt-4o-mini', null, 120, 45, PARTS]],
      question: {
        messages: [
          { role: 'user', content: "what's up?" },
          { role: 'assistant', tool_calls: [{ name: 'get_weather', arguments: BERLIN }] },
          { role: 'tool', content: 'sunny' },
        ],
      },
    },
  },

  Genkit: {
    root: {
      name: 'weather_flow',
      attributes: {
        'genkit:metadata:subtype': 'flow',
        'genkit:name': 'weather_flow',
        'genkit:input': '"weather?"',
      },
      children: [
        {
          name: 'googleai/gemini-2.5-flash',
          attributes: {
            'genkit:metadata:subtype': 'model',
            'genkit:name': 'googleai/gemini-2.5-flash',
            'genkit:input': JSON.stringify({
              messages: [
                { role: 'user', content: [{ text: 'weather?' }] },
                {
                  role: 'tool',
                  content: [{ toolResponse: { name: 'get_weather', ref: 'c1', output: 'sunny' } }],
                },
              ],
            }),
            // Thoughts are not part of the output tokens.
            'genkit:output': JSON.stringify({
              message: {
                role: 'model',
                content: [{ toolRequest: { name: 'get_weather', ref: 'c1', input: BERLIN } }],
              },
              usage: {
                inputTokens: 120,
                outputTokens: 29,
                thoughtsTokens: 16,
                totalTokens: 165,
                cachedContentTokens: 64,
              },
            }),
          },
        },
        {
          name: 'get_weather',
          code: 2,
          message: 'no',
          attributes: {
            'genkit:metadata:subtype': 'tool',
            'genkit:name': 'get_weather',
            'genkit:input': '{"city":"Berlin"}',
            'genkit:state': 'error',
          },
        },
      ],
    },
    expected: {
      agent: 'weather_flow',
      calls: [['googleai/gemini-2.5-flash', null, 120, 45, PARTS]],
      tools: [['get_weather', BERLIN, null]],
      question: { value: 'weather?' },
    },
  },

  Braintrust: {
    root: {
      name: 'weather_bt',
      attributes: {
        'braintrust.span_attributes': '{"type": "task"}',
        'braintrust.metadata': '{"session_id": "s", "user_id": "u"}',
        'braintrust.tags': ['a'],
        'braintrust.input_json': '"weather?"',
      },
      children: [
        {
          name: 'Chat Completion',
          attributes: {
            'braintrust.span_attributes': '{"type": "llm", "name": "Chat Completion"}',
            'braintrust.metadata': '{"model": "gpt-4o-mini", "provider": "openai"}',
            'braintrust.metrics':
              '{"prompt_tokens": 120, "completion_tokens": 45, "tokens": 165, "prompt_cached_tokens": 64, "completion_reasoning_tokens": 16}',
          },
        },
        {
          name: 'tool',
          attributes: {
            'braintrust.span_attributes': '{"type": "tool", "name": "get_weather"}',
            'braintrust.input_json': '{"city": "Berlin"}',
            'braintrust.output_json': '"sunny"',
          },
        },
      ],
    },
    expected: {
      agent: 'weather_bt',
      session: 's',
      user: 'u',
      tags: ['a'],
      calls: [['gpt-4o-mini', 'openai', 120, 45, PARTS]],
      tools: [['get_weather', BERLIN, 'sunny']],
    },
  },

  VoltAgent: {
    root: {
      name: 'weather_volt',
      attributes: {
        'entity.type': 'agent',
        'entity.name': 'weather_volt',
        'conversation.id': 's',
        'user.id': 'u',
        input: 'weather?',
        output: 'It is sunny.',
        'usage.prompt_tokens': 240,
        'usage.completion_tokens': 90,
      },
      children: [
        {
          name: 'llm:generateText',
          attributes: {
            'entity.type': 'agent',
            'span.type': 'llm',
            'llm.model': 'gpt-4o-mini',
            'llm.messages': JSON.stringify([QUESTION]),
            'llm.usage.prompt_tokens': 120,
            'llm.usage.completion_tokens': 45,
            'llm.usage.cached_tokens': 64,
            'llm.usage.reasoning_tokens': 16,
          },
        },
        {
          name: 'tool.execution:get_weather',
          attributes: {
            'entity.type': 'agent',
            'span.type': 'tool',
            'tool.name': 'get_weather',
            'tool.parameters': '{"def": {"type": "object"}, "type": "object"}',
            input: '{"city": "Berlin"}',
            output: 'sunny',
          },
          children: [{ name: 'subagent:writer', attributes: { 'entity.type': 'agent', input: 'x' } }],
        },
        { name: 'memory.read', attributes: { 'entity.type': 'agent', 'span.type': 'memory', output: '[]' } },
      ],
    },
    expected: {
      agent: 'weather_volt',
      session: 's',
      user: 'u',
      calls: [['gpt-4o-mini', null, 120, 45, PARTS]],
      tools: [['get_weather', BERLIN, 'sunny']],
      question: { value: 'weather?' },
      answer: { value: 'It is sunny.' },
      edges: ['weather_volt > writer'],
    },
  },

  "LlamaIndex's own instrumentation": {
    scope: 'llamaindex.opentelemetry.tracer',
    root: {
      name: 'FunctionAgent.run',
      code: 1,
      events: [
        {
          name: 'workflow.output',
          attributes: {
            output:
              "StopEvent(result=AgentOutput(response=ChatMessage(role=<MessageRole.ASSISTANT: 'assistant'>, additional_kwargs={}, blocks=[TextBlock(block_type='text', text='It is sunny and very wa...",
          },
        },
      ],
      children: [
        {
          name: 'BaseWorkflowAgent.init_run',
          attributes: { 'llamaindex.session_id': 's' },
          events: [
            {
              name: 'step.output',
              attributes: { output: "AgentInput(input=[], current_agent_name='weather_li')" },
            },
          ],
        },
        {
          name: 'OpenAI.achat',
          events: [
            {
              name: 'LLMChatStartEvent',
              attributes: {
                messages: '[{"role": "user", "blocks": [{"block_type": "text", "text": "weather?"}]}]',
                'model_dict.model_name': 'gpt-4o-mini',
              },
            },
            {
              name: 'LLMChatEndEvent',
              attributes: {
                'response.raw.model': 'gpt-4o-mini-2024-07-18',
                'response.raw.usage.prompt_tokens': 120,
                'response.raw.usage.completion_tokens': 45,
                'response.raw.usage.prompt_tokens_details.cached_tokens': 64,
                'response.raw.usage.completion_tokens_details.reasoning_tokens': 16,
                'response.raw.usage.completion_tokens_details.audio_tokens': 'null',
                'response.message.blocks':
                  '[{"block_type": "tool_call", "tool_call_id": "c1", "tool_name": "get_weather", "tool_kwargs": "{\\"city\\": \\"Berlin\\"}"}]',
              },
            },
          ],
        },
        {
          name: 'BaseWorkflowAgent.call_tool',
          attributes: {
            'llamaindex.step.input_event': 'ToolCall',
            'llamaindex.step.input_summary':
              "ToolCall(tool_name='get_weather', tool_kwargs={'city': 'Berlin'}, tool_id='c1')",
          },
          events: [
            {
              name: 'step.output',
              attributes: {
                output:
                  "ToolCallResult(tool_name='get_weather', tool_kwargs={'city': 'Berlin'}, tool_id='c1', tool_output=ToolOutput(blocks=[TextBlock(block_type='text', text=\"sunny, isn't it\")], tool_name='get_weath...",
              },
            },
          ],
        },
      ],
    },
    expected: {
      agent: 'weather_li',
      session: 's',
      calls: [['gpt-4o-mini-2024-07-18', null, 120, 45, PARTS]],
      tools: [['get_weather', BERLIN, "sunny, isn't it"]],
      answer: { value: 'It is sunny and very wa...' },
    },
  },

  LiveKit: {
    scope: 'livekit-agents',
    root: {
      name: 'agent_session',
      attributes: {
        'gen_ai.operation.name': 'invoke_workflow',
        'gen_ai.workflow.name': 'agent_session',
        'lk.agent_label': 'weather',
      },
      children: [
        { name: 'llm_node', attributes: { 'gen_ai.request.model': 'gpt-4o-mini' } },
        { name: 'llm_request_run', attributes: { 'gen_ai.request.model': 'gpt-4o-mini' } },
        {
          name: 'function_tool',
          attributes: {
            'lk.function_tool.name': 'get_weather',
            'lk.pii.function_tool.arguments': '{"city": "Berlin"}',
            'lk.pii.function_tool.output': 'no',
            'lk.function_tool.is_error': true,
            'gen_ai.operation.name': 'execute_tool',
          },
        },
      ],
    },
    expected: { agent: 'weather', calls: [], tools: [['get_weather', BERLIN, 'no']] },
  },

  Laminar: {
    service: 'laminar-tracer-resource',
    scope: 'lmnr.tracer',
    root: {
      name: 'weather_lmnr',
      events: [{ name: 'exception', attributes: { 'exception.type': 'Error', 'exception.message': 'no' } }],
    },
    expected: { agent: 'weather_lmnr', status: 'failed', error: 'Error: no' },
  },

  Mastra: {
    root: {
      name: 'invoke_agent Weather',
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': 'Weather',
        'mastra.agent_run.input': 'weather?',
        'mastra.agent_run.output': '{"text":"It is sunny.","files":[],"toolCalls":[]}',
        'mastra.metadata.sessionId': 's',
        'mastra.metadata.userId': 'u',
        'mastra.tags': '["a"]',
      },
    },
    expected: {
      agent: 'Weather',
      session: 's',
      user: 'u',
      tags: ['a'],
      question: { value: 'weather?' },
      answer: { files: [], messages: [ANSWER] },
    },
  },

  Pipecat: {
    scope: 'pipecat',
    root: {
      name: 'conversation',
      attributes: { 'conversation.id': 's', 'conversation.type': 'voice' },
      children: [
        {
          name: 'llm_setup',
          attributes: {
            'gen_ai.request.model': 'm',
            'gen_ai.operation.name': 'llm_setup',
            'service.operation': 'llm_setup',
          },
        },
        {
          name: 'llm_tool_result',
          attributes: {
            'gen_ai.request.model': 'm',
            'gen_ai.operation.name': 'llm_tool_result',
            'service.operation': 'llm_tool_result',
            'tool.function_name': 'get_weather',
            'tool.result': 'sunny',
          },
        },
      ],
    },
    expected: { session: 's', calls: [], tools: [['get_weather', null, 'sunny']] },
  },

  'Spring AI': {
    root: {
      name: 'spring_ai chat_client',
      attributes: {
        'gen_ai.operation.name': 'framework',
        'spring.ai.kind': 'chat_client',
        'spring.ai.chat.client.conversation.id': 's',
      },
      children: [
        {
          name: 'chat gpt-4o-mini',
          code: 2,
          attributes: {
            'gen_ai.operation.name': 'chat',
            'gen_ai.request.model': 'gpt-4o-mini',
            'gen_ai.response.model': 'none',
          },
          children: [
            {
              name: 'http post',
              kind: 3,
              attributes: { 'http.url': 'https://api.example.com/v1/chat', method: 'POST', status: '200' },
            },
          ],
        },
        {
          name: 'tool_call get_weather',
          attributes: {
            'gen_ai.operation.name': 'framework',
            'spring.ai.kind': 'tool_call',
            'spring.ai.tool.definition.name': 'get_weather',
            'spring.ai.tool.call.arguments': '{"city":"Berlin"}',
            'spring.ai.tool.call.result': '"sunny"',
          },
        },
      ],
    },
    expected: {
      session: 's',
      calls: [['gpt-4o-mini', null, null, null, null]],
      tools: [['get_weather', BERLIN, 'sunny']],
      edges: ['svc > api.example.com'],
    },
  },

  MLflow: {
    root: {
      name: 'Responses',
      attributes: {
        'mlflow.spanType': '"CHAT_MODEL"',
        'mlflow.llm.model': '"gpt-5-mini"',
        'mlflow.llm.provider': '"openai"',
        'mlflow.spanInputs': '{"model": "gpt-5", "input": "weather?"}',
      },
    },
    expected: {
      calls: [['gpt-5-mini', 'openai', null, null, null]],
      question: { model: 'gpt-5', messages: [QUESTION] },
    },
  },
};

for (const [name, { root, expected, ...sending }] of Object.entries(CLIENTS))
  void t.test(name, async (t) => {
    const found = mapRun(root, sending);
    for (const key of Object.keys(expected) as (keyof MappedRun)[])
      t.strictSame(found[key], expected[key], key);
  });

void t.test('a call whose choices all ended with an error failed', async (t) => {
  const statusOf = (reasons: string[]) =>
    mapRun({
      name: 'chat',
      attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.response.finish_reasons': reasons },
    }).status;
  t.equal(statusOf(['error']), 'failed');
  t.equal(statusOf(['error', 'stop']), 'completed');
});

void t.test('an exception without a status is no failure elsewhere', async (t) => {
  const root = { name: 'a', events: [{ name: 'exception', attributes: { 'exception.message': 'no' } }] };
  t.equal(mapRun(root).status, 'completed');
  t.equal(mapRun({ ...root, code: 1 }, { scope: 'lmnr.tracer' }).status, 'completed');
});

void t.test('answers of Genkit and Haystack are messages', async (t) => {
  const answerOf = (output: unknown) =>
    mapRun({ name: 'a', attributes: { 'any.output': JSON.stringify(output) } }).answer;
  const call = { name: 'get_weather', arguments: BERLIN };
  t.match(answerOf({ candidates: [{ message: { role: 'model', content: [{ text: 'It is sunny.' }] } }] }), {
    messages: [ANSWER],
  });
  t.match(answerOf({ replies: [{ role: 'assistant', content: [{ tool_call: { ...call, id: 'c1' } }] }] }), {
    messages: [CALL],
  });
});
