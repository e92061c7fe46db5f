import t from 'tap';
import { loggedError, loggedPayload } from '../../../src/otlp/map/logged-payload.js';
import type { JsonObject, JsonValue } from '../../../src/signal/attributes.js';
import type { LoggedEvent } from '../../../src/signal/logged-event.js';

let made = 0;

/** An event later than all before. */
function event(name: string, body: JsonValue, attributes: JsonObject = {}): LoggedEvent {
  return {
    name: `gen_ai.${name}`,
    timestamp: ++made,
    body,
    attributes: { 'gen_ai.system': 'openai', ...attributes },
  };
}

const CALL = {
  id: 'call_1',
  type: 'function',
  function: { name: 'get_weather', arguments: '{"city": "Berlin"}' },
};
const CALLED = { id: 'call_1', name: 'get_weather', arguments: { city: 'Berlin' } };

void t.test('reads a conversation and its answer', async (t) => {
  t.strictSame(
    loggedPayload('llm', [
      event('system.message', { content: 'Be nice.' }),
      event('user.message', { content: 'Weather?' }, { 'event.name': 'gen_ai.user.message' }),
      event('assistant.message', { tool_calls: [CALL] }),
      event('tool.message', { id: 'call_1', content: 'sunny' }),
      event('choice', {
        index: 0,
        finish_reason: 'stop',
        message: { role: 'assistant', content: 'It is sunny.' },
      }),
    ]),
    {
      input: {
        messages: [
          { role: 'system', content: 'Be nice.' },
          { role: 'user', content: 'Weather?' },
          { role: 'assistant', tool_calls: [CALLED] },
          { role: 'tool', content: 'sunny', tool_call_id: 'call_1' },
        ],
      },
      output: { messages: [{ role: 'assistant', content: 'It is sunny.', finish_reason: 'stop' }] },
    },
  );
});

void t.test('reads a choice with a tool call and several choices', async (t) => {
  const { input, output } = loggedPayload('llm', [
    event('choice', { index: 0, finish_reason: 'tool_calls', message: { tool_calls: [CALL] } }),
    event('choice', { index: 1, finish_reason: 'stop', message: { content: 'or this' } }),
  ]);
  t.equal(input, null);
  t.strictSame(output, {
    messages: [
      { role: 'assistant', tool_calls: [CALLED], finish_reason: 'tool_calls' },
      { role: 'assistant', content: 'or this', finish_reason: 'stop' },
    ],
  });
});

void t.test('reads JSON text, plain text and attributes', async (t) => {
  const { input, output } = loggedPayload('llm', [
    event('user.message', '{"role": "user", "content": "Weather?"}'),
    event('user.message', 'just a text'),
    event('user.message', null, { content: 'in an attribute', 'code.line.number': 7 }),
    event(
      'choice',
      '{"message": {"role": "assistant", "content": "Sunny."}, "finish_reason": "stop", "index": 0}',
    ),
  ]);
  t.strictSame(input, {
    messages: ['Weather?', 'just a text', 'in an attribute'].map((content) => ({ role: 'user', content })),
  });
  t.strictSame(output, { messages: [{ role: 'assistant', content: 'Sunny.', finish_reason: 'stop' }] });
});

void t.test('reads operation details like span attributes', async (t) => {
  const withoutEmpty = (role: string, content: string) => [{ role, parts: [{ type: 'text', content }] }];
  const attributes = {
    'gen_ai.input.messages': withoutEmpty('user', 'Hi'),
    'gen_ai.output.messages': JSON.stringify(withoutEmpty('assistant', 'Hello.')),
    'gen_ai.system_instructions': [{ type: 'text', content: 'Be brief.' }],
    'gen_ai.response.finish_reasons': ['stop'],
  };
  const expected = {
    input: { messages: [{ role: 'user', content: 'Hi' }], system: attributes['gen_ai.system_instructions'] },
    output: { messages: [{ role: 'assistant', content: 'Hello.' }], finish_reasons: ['stop'] },
  };
  const name = 'client.inference.operation.details';
  t.strictSame(loggedPayload('llm', [event(name, '', attributes)]), expected);
  t.strictSame(loggedPayload('llm', [event(name, attributes)]), expected, 'in the body');
});

void t.test('separates input of a model call from input of its caller', async (t) => {
  const details = (attributes: JsonObject) => event('client.inference.operation.details', null, attributes);
  const messages = { 'gen_ai.input.messages': [{ role: 'user', parts: [{ type: 'text', content: 'Hi' }] }] };
  const nothing = { input: null, output: null };
  for (const type of ['agent', 'custom', 'tool'] as const)
    t.strictSame(loggedPayload(type, [details({ 'gen_ai.operation.name': 'chat', ...messages })]), nothing);
  t.match(loggedPayload('agent', [details({ 'gen_ai.operation.name': 'invoke_agent', ...messages })]), {
    input: { messages: [{ role: 'user', content: 'Hi' }] },
  });
  t.match(loggedPayload('agent', [event('user.message', { content: 'Hi' })]), {
    input: { messages: [{ role: 'user', content: 'Hi' }] },
  });
});

void t.test('for tools, payloads are arguments and results', async (t) => {
  t.strictSame(
    loggedPayload('tool', [
      event('tool.message', { id: 'call_1', content: '{"city": "Berlin"}' }),
      event('choice', { message: { content: 'sunny' } }),
    ]),
    { input: { arguments: { city: 'Berlin' } }, output: { result: 'sunny' } },
  );
});

void t.test('ignores records without content', async (t) => {
  const nothing = { input: null, output: null };
  t.strictSame(loggedPayload('llm', []), nothing);
  t.strictSame(
    loggedPayload('llm', [
      event('user.message', {}),
      event('system.message', null),
      event('choice', { index: 0, finish_reason: 'stop', message: { role: 'assistant' } }),
    ]),
    nothing,
  );
});

void t.test('repeated records count once, repeated messages twice', async (t) => {
  const [hi, again] = [event('user.message', { content: 'hi' }), event('user.message', { content: 'hi' })];
  const { input } = loggedPayload('llm', [hi, hi, again, structuredClone(hi)]);
  t.strictSame(input, {
    messages: [
      { role: 'user', content: 'hi' },
      { role: 'user', content: 'hi' },
    ],
  });
});

void t.test('deep or huge structures stay text', async (t) => {
  const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`;
  const { input } = loggedPayload('llm', [
    event('user.message', deep),
    event('user.message', { content: deep }),
  ]);
  t.strictSame(input, {
    messages: [
      { role: 'user', content: deep },
      { role: 'user', content: deep },
    ],
  });
});

void t.test('gives the error of a failed span that has at most its type', (t) => {
  const exception = (attributes: JsonObject) => event('client.operation.exception', null, attributes);
  const limited = exception({
    'exception.type': 'RateLimitError',
    'exception.message': '429 slow down\n    at call (a.js:1:1)',
  });
  const text = 'RateLimitError: 429 slow down';
  t.equal(loggedError(null, [event('choice', null), limited]), text);
  t.equal(loggedError('RateLimitError', [limited]), text, 'also of one with error.type alone');
  t.equal(loggedError('its own', [limited]), 'its own');
  t.equal(loggedError(null, [exception({}), limited, exception({ 'exception.type': 'Last' })]), 'Last');
  t.equal(loggedError(null, [exception({})]), null);
  t.equal(loggedError(null, [event('choice', null)]), null);
  t.end();
});
