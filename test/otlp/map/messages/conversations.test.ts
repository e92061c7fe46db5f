import t from 'tap';
import { messagesIn, withMessages } from '../../../../src/otlp/map/messages/conversations.js';
import type { JsonObject, JsonValue } from '../../../../src/signal/attributes.js';

const HI = { role: 'user', content: 'Hi' };
const HELLO = { role: 'assistant', content: 'Hello' };

/** Objects with a conversation and the expected result. */
const HOLDERS: Readonly<Record<string, readonly [sent: JsonObject, is: JsonObject | undefined]>> = {
  'a request': [
    { model: 'm', messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }] },
    { model: 'm', messages: [HI] },
  ],
  "LangChain's batch of one": [
    { messages: [[{ type: 'human', data: { content: 'Hi' } }]] },
    { messages: [HI] },
  ],
  'a request to Gemini': [
    { model: 'm', contents: [{ role: 'user', parts: [{ text: 'Hi' }] }], config: {} },
    { model: 'm', config: {}, messages: [HI] },
  ],
  'a request to Gemini, with a text': [{ contents: 'Hi' }, { messages: [HI] }],
  'an answer of Gemini': [
    { candidates: [{ content: { role: 'model', parts: [{ text: 'Hello' }] } }], usage: 1 },
    { usage: 1, messages: [HELLO] },
  ],
  'an answer as ADK writes it': [
    { content: { role: 'model', parts: [{ text: 'Hello' }] }, usage_metadata: {} },
    { usage_metadata: {}, messages: [HELLO] },
  ],
  'an answer of OpenAI': [
    { id: '1', choices: [{ index: 0, finish_reason: 'stop', message: HELLO }], usage: { total_tokens: 3 } },
    { id: '1', usage: { total_tokens: 3 }, messages: [{ ...HELLO, finish_reason: 'stop' }] },
  ],
  'a Response of OpenAI': [
    { output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello' }] }] },
    { messages: [HELLO] },
  ],
  'an answer of Anthropic': [
    { id: '1', type: 'message', role: 'assistant', content: [{ type: 'text', text: 'Hello' }], usage: {} },
    { id: '1', type: 'message', usage: {}, messages: [HELLO] },
  ],
  "LangChain's result": [
    { generations: [[{ text: 'Hello', message: { type: 'ai', content: 'Hello' } }]], llm_output: null },
    { llm_output: null, messages: [HELLO] },
  ],
  'a message next to others': [
    { message: HELLO, model: 'm' },
    { model: 'm', messages: [HELLO] },
  ],
  'a Command of LangGraph': [{ graph: null, update: { messages: [HELLO] } }, { messages: [HELLO] }],
  'a message of LangChain alone': [{ type: 'ai', data: { content: 'Hello' } }, { messages: [HELLO] }],
  'a message alone': [HELLO, { messages: [HELLO] }],
  'messages of LangChain that are printed': [
    { messages: ["content='Hello' additional_kwargs={} id='lc_run--1'", HELLO] },
    { messages: [HELLO, HELLO] },
  ],
  'messages that are printed in another way': [{ messages: ["role='user' content='Hi'"] }, undefined],
  'no messages': [{ messages: [] }, undefined],
  'something else': [{ content: 'Hi', output: 7, choices: ['a'], contents: [1], update: {} }, undefined],
  nothing: [{}, undefined],
};

for (const [what, [sent, is]] of Object.entries(HOLDERS))
  void t.test(`reads an object with a conversation: ${what}`, async (t) => {
    const before = JSON.stringify(sent);
    t.strictSame(withMessages(sent, 'assistant'), is);
    t.equal(JSON.stringify(sent), before, 'the input is unchanged');
  });

void t.test('recognizes lists of messages', async (t) => {
  const cases: readonly (readonly [sent: JsonValue[], is: JsonValue[] | undefined])[] = [
    [
      [HI, HELLO],
      [HI, HELLO],
    ],
    [[[HI, HELLO]], [HI, HELLO]],
    [[{ graph: null, update: { messages: [HELLO] } }], [HELLO]],
    [
      [{ name: 'w', args: { a: 1 }, id: 'c1', type: 'tool_call' }],
      [{ role: 'assistant', tool_calls: [{ id: 'c1', name: 'w', arguments: { a: 1 } }] }],
    ],
    [
      [{ toolCallId: 'c1', toolName: 'w', input: '{"a": 1}' }],
      [{ role: 'assistant', tool_calls: [{ id: 'c1', name: 'w', arguments: { a: 1 } }] }],
    ],
    [[HI, { x: 1 }], undefined],
    [[{ x: 1 }], undefined],
    [['Hi'], undefined],
    [[], undefined],
  ];
  for (const [sent, is] of cases) t.strictSame(messagesIn(sent, null), is, JSON.stringify(sent));
});
