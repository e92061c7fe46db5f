import t from 'tap';
import { haveContent, toMessages } from '../../../../src/otlp/map/messages/message.js';
import type { JsonValue } from '../../../../src/signal/attributes.js';

const CALL = { id: 'c1', name: 'get_weather', arguments: { city: 'Berlin' } };
const ASKED = { role: 'assistant', tool_calls: [CALL] };
const SUNNY = { role: 'tool', tool_call_id: 'c1', content: 'sunny' };

/** Messages in the formats of providers and clients, with the normalized form. */
const SHAPES: Readonly<Record<string, readonly (readonly [sent: JsonValue, messages: JsonValue[]])[]>> = {
  'OpenAI, chat completions': [
    [{ role: 'user', content: 'Hi' }, [{ role: 'user', content: 'Hi' }]],
    [{ role: 'user', content: 'Hi', name: 'Ann' }, [{ role: 'user', content: 'Hi', name: 'Ann' }]],
    [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }, [{ role: 'user', content: 'Hi' }]],
    [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What?' },
          { type: 'image_url', image_url: { url: 'u' } },
        ],
      },
      [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What?' },
            { type: 'image_url', image_url: { url: 'u' } },
          ],
        },
      ],
    ],
    [
      {
        role: 'assistant',
        content: null,
        refusal: null,
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'get_weather', arguments: '{"city": "Berlin"}' } },
        ],
      },
      [ASKED],
    ],
    [{ role: 'tool', tool_call_id: 'c1', content: 'sunny' }, [SUNNY]],
    [{ role: 'tool', tool_call_id: 'c1', content: '"sunny"' }, [SUNNY]],
    [
      { message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop', index: 0 },
      [{ role: 'assistant', content: 'Hello', finish_reason: 'stop' }],
    ],
  ],
  'OpenAI, Responses': [
    [
      {
        type: 'message',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'Hello' }],
        status: 'completed',
      },
      [{ role: 'assistant', content: 'Hello' }],
    ],
    [
      {
        type: 'function_call',
        call_id: 'c1',
        id: 'fc_1',
        name: 'get_weather',
        arguments: '{"city":"Berlin"}',
      },
      [ASKED],
    ],
    [{ type: 'function_call_output', call_id: 'c1', output: 'sunny' }, [SUNNY]],
  ],
  Anthropic: [
    [
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm.' },
          { type: 'text', text: 'Let me see.' },
          { type: 'tool_use', id: 'c1', name: 'get_weather', input: { city: 'Berlin' } },
        ],
      },
      [
        {
          role: 'assistant',
          content: [
            { type: 'reasoning', text: 'Hm.' },
            { type: 'text', text: 'Let me see.' },
          ],
          tool_calls: [CALL],
        },
      ],
    ],
    [
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'sunny' }] },
          { type: 'text', text: 'And now?' },
        ],
      },
      [SUNNY, { role: 'user', content: 'And now?' }],
    ],
  ],
  GenAI: [
    [{ role: 'user', parts: [{ type: 'text', content: 'Hi' }] }, [{ role: 'user', content: 'Hi' }]],
    [{ role: 'assistant', parts: [{ type: 'tool_call', ...CALL }] }, [ASKED]],
    [{ role: 'tool', parts: [{ type: 'tool_call_response', id: 'c1', response: 'sunny' }] }, [SUNNY]],
    [
      { role: 'assistant', parts: [{ type: 'reasoning', content: 'Hm.' }], finish_reason: 'stop' },
      [{ role: 'assistant', content: [{ type: 'reasoning', text: 'Hm.' }], finish_reason: 'stop' }],
    ],
    [{ role: 'assistant', parts: [] }, [{ role: 'assistant' }]],
  ],
  Gemini: [
    [{ role: 'model', parts: [{ text: 'Hello' }] }, [{ role: 'assistant', content: 'Hello' }]],
    [
      { role: 'model', parts: [{ function_call: { name: 'get_weather', args: { city: 'Berlin' } } }] },
      [{ role: 'assistant', tool_calls: [{ name: 'get_weather', arguments: { city: 'Berlin' } }] }],
    ],
    [
      {
        role: 'user',
        parts: [{ functionResponse: { name: 'get_weather', response: { weather: 'sunny' } } }],
      },
      [{ role: 'tool', name: 'get_weather', content: { weather: 'sunny' } }],
    ],
    [
      { role: 'model', parts: [{ text: 'Hm.', thought: true }, { text: 'Hello' }] },
      [
        {
          role: 'assistant',
          content: [
            { type: 'reasoning', text: 'Hm.' },
            { type: 'text', text: 'Hello' },
          ],
        },
      ],
    ],
  ],
  'Bedrock and Strands': [
    [{ role: 'user', content: '[{"text": "Hi"}]' }, [{ role: 'user', content: 'Hi' }]],
    [
      {
        role: 'assistant',
        content: '[{"toolUse": {"toolUseId": "c1", "name": "get_weather", "input": {"city": "Berlin"}}}]',
      },
      [ASKED],
    ],
    [
      {
        role: 'user',
        content: [{ toolResult: { toolUseId: 'c1', status: 'success', content: [{ text: 'sunny' }] } }],
      },
      [SUNNY],
    ],
    [
      { role: 'assistant', content: [{ reasoningContent: { reasoningText: { text: 'Hm.' } } }] },
      [{ role: 'assistant', content: [{ type: 'reasoning', text: 'Hm.' }] }],
    ],
  ],
  LangChain: [
    [
      {
        lc: 1,
        type: 'constructor',
        id: ['langchain', 'schema', 'messages', 'HumanMessage'],
        kwargs: { content: 'Hi' },
      },
      [{ role: 'user', content: 'Hi' }],
    ],
    [
      {
        lc: 1,
        type: 'constructor',
        id: ['langchain', 'schema', 'messages', 'AIMessage'],
        kwargs: {
          content: '',
          type: 'ai',
          tool_calls: [{ name: 'get_weather', args: { city: 'Berlin' }, id: 'c1', type: 'tool_call' }],
          response_metadata: { model: 'm' },
        },
      },
      [ASKED],
    ],
    [
      { type: 'human', data: { content: 'Hi', additional_kwargs: {}, name: null } },
      [{ role: 'user', content: 'Hi' }],
    ],
    [{ type: 'tool', content: 'sunny', tool_call_id: 'c1', id: 'm1', status: 'success' }, [SUNNY]],
    [
      {
        type: 'ai',
        content: '',
        additional_kwargs: {
          tool_calls: [{ id: 'c1', function: { name: 'get_weather', arguments: '{"city": "Berlin"}' } }],
        },
      },
      [ASKED],
    ],
    [
      [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: 'Hello' },
      ],
      [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: 'Hello' },
      ],
    ],
  ],
  'LangChain, printed': [
    ["content='Hi' additional_kwargs={} response_metadata={} id='96836685'", [{ content: 'Hi' }]],
    [
      "content='' additional_kwargs={'refusal': None} response_metadata={'token_usage': {'total_tokens': 165}} id='lc_run--1' tool_calls=[{'name': 'get_weather', 'args': {'city': 'Berlin'}, 'id': 'c1', 'type': 'tool_call'}] usage_metadata={'input_tokens': 120}",
      [ASKED],
    ],
    ["content='sunny' name='get_weather' id='m1' tool_call_id='c1'", [SUNNY]],
    [
      "content=\"It's sunny\" additional_kwargs={} response_metadata={} id='lc_run--2'",
      [{ role: 'assistant', content: "It's sunny" }],
    ],
    // A text with the same beginning but a different rest.
    ["content='Hi' tool_calls=[{]", ["content='Hi' tool_calls=[{]"]],
    [
      "content='Hi' additional_kwargs={} tool_calls=[{'name': usage_metadata={'",
      [{ role: 'assistant', content: 'Hi' }],
    ],
  ],
  'Vercel AI SDK': [
    [
      {
        role: 'assistant',
        content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'get_weather', args: { city: 'Berlin' } }],
      },
      [ASKED],
    ],
    [
      {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: 'c1', toolName: 'w', output: { type: 'text', value: 'sunny' } },
        ],
      },
      [{ ...SUNNY, name: 'w' }],
    ],
    [
      { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c1', result: { sun: true } }] },
      [{ role: 'tool', tool_call_id: 'c1', content: { sun: true } }],
    ],
  ],
  'OpenInference and OpenLLMetry, out of numbered attributes': [
    [
      { role: 'assistant', contents: [{ type: 'text', text: 'Hello' }], content: 'Hello' },
      [{ role: 'assistant', content: 'Hello' }],
    ],
    [
      {
        role: 'assistant',
        tool_calls: [{ id: 'c1', function: { name: 'get_weather', arguments: '{"city":"Berlin"}' } }],
      },
      [ASKED],
    ],
    [
      { role: 'assistant', tool_calls: [{ id: 'c1', name: 'get_weather', arguments: '{"city": "Berlin"}' }] },
      [ASKED],
    ],
    [
      { function_call: { name: 'get_weather', arguments: '{"city": "Berlin"}' } },
      [{ tool_calls: [{ name: 'get_weather', arguments: { city: 'Berlin' } }] }],
    ],
  ],
  LlamaIndex: [
    [
      { role: 'user', additional_kwargs: {}, blocks: [{ block_type: 'text', text: 'Hi' }] },
      [{ role: 'user', content: 'Hi' }],
    ],
  ],
  'a call that appears twice': [
    [
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'c1', name: 'get_weather', input: { city: 'Berlin' } }],
        tool_calls: [{ id: 'c1', name: 'get_weather', args: { city: 'Berlin' } }],
      },
      [ASKED],
    ],
  ],
  'texts that are not unwrapped': [
    [{ role: 'user', content: '{"city": "Berlin"}' }, [{ role: 'user', content: '{"city": "Berlin"}' }]],
    [{ role: 'user', content: '[1, 2]' }, [{ role: 'user', content: '[1, 2]' }]],
    [{ role: 'user', content: '"quoted" words' }, [{ role: 'user', content: '"quoted" words' }]],
    [{ role: 'user', content: '[not json' }, [{ role: 'user', content: '[not json' }]],
    [
      { role: 'assistant', tool_calls: [{ name: 'f', arguments: 'x' }] },
      [{ role: 'assistant', tool_calls: [{ name: 'f', arguments: 'x' }] }],
    ],
  ],
  'what is no message': [
    [{ anything: 1 }, [{ anything: 1 }]],
    ['a text', ['a text']],
    [7, [7]],
    [null, [null]],
    [{ role: 'user' }, [{ role: 'user' }]],
    [{ role: '', content: '' }, [{ role: '' }]],
    [{ text: 'Hi' }, [{ content: 'Hi' }]],
  ],
};

for (const [whose, cases] of Object.entries(SHAPES))
  void t.test(`reads messages: ${whose}`, async (t) => {
    for (const [sent, messages] of cases) {
      t.strictSame(toMessages([sent], null), messages, JSON.stringify(sent));
      t.strictSame(toMessages(messages, null), messages, 'stable when read again');
    }
  });

void t.test('uses the default role', async (t) => {
  t.strictSame(toMessages(['Hello', { content: 'Hello' }, { x: 1 }], 'assistant'), [
    { role: 'assistant', content: 'Hello' },
    { role: 'assistant', content: 'Hello' },
    { x: 1 },
  ]);
});

void t.test('messages with only a role have no content', async (t) => {
  t.notOk(haveContent([{ role: 'user' }, { role: 'assistant', finish_reason: 'stop' }]));
  t.notOk(haveContent([]));
  for (const message of [{ role: 'user', content: 'Hi' }, ASKED, 'a text', { anything: 1 }])
    t.ok(haveContent([{ role: 'user' }, message]));
});
